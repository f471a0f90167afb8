"""Cells of any type become texts, targets and metadata, or one row's problem."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from pytest_llmeval.bulk.cells import rows_of
from pytest_llmeval.bulk.fields import Fields, read_fields
from pytest_llmeval.errors import UsageError

ANSWERS: list[tuple[pa.Array, list[str | None]]] = [
    (pa.array(["a", None, ""]), ["a", None, ""]),
    (pa.array(["a", "a"]).dictionary_encode(), ["a", "a"]),
    (pa.array(["a"], pa.large_string()), ["a"]),
    (pa.array(["a"], pa.string_view()), ["a"]),
    (pa.array([7, None]), ["7", None]),
    (pa.array([0.1, 2.0]), ["0.1", "2.0"]),
    (pa.array([0.1, None], pa.float32()), ["0.1", None]),
    (pa.array([Decimal("1.50")]), ["1.50"]),
    (pa.array([None, None]), [None, None]),
]
"""Columns of answers, and the texts that they are taken for."""


@pytest.mark.parametrize(("column", "texts"), ANSWERS)
def test_texts_and_numbers_are_answers(column: pa.Array, texts: list[str | None]) -> None:
    table = pa.table({"answer": column})
    found = rows_of(table, read_fields([], table.schema), 5)
    assert [row.answer for row in found] == texts
    assert [row.id for row in found] == [str(5 + number) for number in range(len(texts))]


TARGETS: list[tuple[pa.Array, Any]] = [
    (pa.array(["t"]), "t"),
    (pa.array([4]), "4"),
    (pa.array([[1, 2, 1]]), ("1", "2")),
    (pa.array([["a", "b"]]), ("a", "b")),
    (pa.array([["a", "b"]], pa.list_(pa.string(), 2)), ("a", "b")),
    (pa.array([[]], pa.list_(pa.string())), None),
    (pa.array([""]), None),
    (pa.array([None], pa.string()), None),
    (pa.array([{"a": [{"b": [1]}, None], "c": True}]), {"a": [{"b": [1]}, None], "c": True}),
    (pa.array([[("k", 1.5)]], pa.map_(pa.string(), pa.float64())), {"k": 1.5}),
    (pa.array([{"m": [("k", [1])]}], pa.struct({"m": pa.map_(pa.string(), pa.list_(pa.int8()))})),
     {"m": {"k": [1]}}),
]  # fmt: skip
"""Columns of one target, and what scorers see."""


@pytest.mark.parametrize(("column", "target"), TARGETS)
def test_texts_lists_and_nested_structs_are_targets(column: pa.Array, target: object) -> None:
    table = pa.table({"answer": ["a"], "target": column})
    (row,) = rows_of(table, read_fields([], table.schema), 0)
    assert (row.problem, row.target) == ("", target)


PROBLEMS = [
    (pa.array([["a", None]]), "a list with an empty cell"),
    (pa.array([{"a": float("nan")}]), "nan, which is not JSON"),
    (pa.array([{"a": dt.date(2026, 1, 1)}]), r"datetime\.date\(.*which is not JSON"),
    (pa.array([[("k", 1), ("k", 2)]], pa.map_(pa.string(), pa.int8())), "a key is repeated"),
]


@pytest.mark.parametrize(("column", "problem"), PROBLEMS)
def test_a_cell_that_cannot_be_a_target_is_its_rows_problem(column: pa.Array, problem: str) -> None:
    table = pa.table({"answer": ["a"], "target": column})
    (row,) = rows_of(table, read_fields([], table.schema), 0)
    with pytest.raises(AssertionError, match=problem):
        raise AssertionError(row.problem)


def test_bytes_that_are_no_text_are_their_rows_problem_alone() -> None:
    broken = pa.Array.from_buffers(
        pa.string(),
        3,
        [None, pa.array([0, 1, 2, 3], pa.int32()).buffers()[1], pa.py_buffer(b"a\xffb")],
    )
    rows = rows_of(pa.table({"answer": broken}), Fields(answer="answer"), 0)
    assert [row.answer for row in rows] == ["a", None, "b"]
    assert [row.problem for row in rows] == ["", "the answer is not UTF-8", ""]


REFUSED = [
    (["anser=response"], "there is no field 'anser'; did you mean 'answer'"),
    (["answer"], "write FIELD=COLUMN"),
    (["answer=respnse"], "no column 'respnse' .* did you mean --fields answer=response"),
    (["metadata.=x"], "there is no field 'metadata.'"),
    (["answer=response,target=when"], r"'when' holds timestamp\[us\]; the target is a text"),
    (["answer=many"], "'many' holds list<.*the answer is a text"),
    ([], "no column 'answer' for the field 'answer'"),
]


@pytest.mark.parametrize(("texts", "told"), REFUSED)
def test_a_wrong_field_is_one_error_with_the_fix(texts: list[str], told: str) -> None:
    schema = pa.schema(
        [
            ("response", pa.string()),
            ("when", pa.timestamp("us")),
            ("many", pa.list_(pa.string())),
        ]
    )
    with pytest.raises(UsageError, match=told):
        read_fields(texts, schema)


def test_metadata_and_the_question_reach_the_scorer() -> None:
    table = pa.table(
        {"q": ["?"], "response": ["a"], "uid": [9], "level": [{"n": 3}], "target": ["t"]}
    )
    texts = ["answer=response,input=q", "id=uid,metadata.level=level"]
    (row,) = rows_of(table, read_fields(texts, table.schema), 0)
    assert (row.id, row.input, row.metadata) == ("9", "?", {"level": {"n": 3}})
