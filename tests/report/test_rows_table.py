from __future__ import annotations

import csv
import io
import sys
from typing import Any

import pytest
from example_rows import eed, row
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.records import Score, Usage
from pytest_llmeval.report.csv_line import csv_line
from pytest_llmeval.report.rows_csv import cells_of, column_names, csv_lines


def cells(**fields: Any) -> dict[str, str]:
    [line] = csv.DictReader(io.StringIO("".join(csv_lines([row("1", **fields)]))))
    return line


@pytest.mark.parametrize(
    ("answer", "cell"),
    [
        ("42", "42"),
        ("-1", "'-1"),
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("  +1", "'  +1"),
        ("\t=1", "'\t=1"),
        ("\r=1", "\\r=1"),
        ("\n=1", "'\n=1"),
        ("＝1+1", "'＝1+1"),
        ('a,b;"c"\nd', 'a,b;"c"\nd'),
        ("\x1b[31mred\x00", "\\x1b[31mred\\x00"),
        ("\u202eevil\ud800", "\\u202eevil\\ud800"),
        ("'already", "'already"),
        ("", ""),
        ("x" * 40_000, "x" * 32_000 + "…"),
    ],
)
def test_a_text_is_shown_and_never_calculated(answer: str, cell: str) -> None:
    assert cells(answer=answer)["answer"] == cell


@given(st.text(max_size=50))
def test_no_cell_begins_a_formula_or_steers_a_terminal(text: str) -> None:
    line = cells(
        answer=text,
        target=text,
        tags=(text,),
        groups={text: (text,)},
        scores=(Score(name=text, value=None, correct=None),),
    )
    for cell in (*line, *line.values()):
        assert not cell.lstrip(" ").startswith(tuple("=+-@＝＋－＠\t\r\n"))
        assert all(sign.isprintable() or sign in "\n\t" for sign in cell)


def test_every_score_and_group_has_a_column_of_numbers_or_texts() -> None:
    rows = [
        row(
            "2",
            "incorrect",
            scores=eed(40, 10),
            groups={"tag": ("a", "b")},
            usage=Usage(input_tokens=7, cost=0.5),
        ),
        row("1", "error"),
    ]
    names = column_names(rows)
    lines = [cells_of(row, names) for row in reversed(rows)]
    columns = dict(zip(names, map(list, zip(*lines, strict=True)), strict=True))
    assert columns["sample"] == ["1", "2"]
    assert columns["score:EED"] == [None, 40.0]
    assert columns["score:EED published"] == [None, 10.0]
    assert columns["group:tag"] == ["", "a; b"]
    assert columns["cost"] == [None, 0.5]


def test_no_rows_leave_a_head() -> None:
    assert next(csv_lines([])).startswith("test,task,sample,model,epoch,outcome,answer,target")


@pytest.mark.parametrize(
    ("target", "cell"),
    [("a", "a"), (("a", "b"), "a or b"), ({"a": [1]}, '{"a": [1]}'), (None, "")],
)
def test_a_target_of_any_form_is_one_cell(target: Any, cell: str) -> None:
    assert cells(target=target)["target"] == cell


def test_the_order_of_choices_has_a_column_where_there_are_some() -> None:
    assert cells(target="A", order="CAB")["order"] == "CAB"
    assert "order" not in cells(target="A")


def test_printable_cells_are_written_as_sign_by_sign() -> None:
    signs = [sign for sign in map(chr, range(sys.maxunicode + 1)) if sign.isprintable()]
    for start in range(0, len(signs), 5000):
        text = "".join(signs[start : start + 5000])
        assert next(csv.reader([csv_line([text])])) == [f"{text}"]
        assert next(csv.reader([csv_line([f"{text}\0"])])) == [rf"{text}\x00"]
