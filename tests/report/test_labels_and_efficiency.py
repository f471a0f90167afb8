"""The table of error kinds and the note on sample efficiency, on the terminal and in Markdown."""

from __future__ import annotations

import re

import pytest
from example_rows import EEDS, eed, row
from rich.cells import cell_len

from pytest_llmeval.records import Display, Row, Score
from pytest_llmeval.report.markdown import render_markdown
from pytest_llmeval.report.table import render_table
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.results.summary import Summary
from pytest_llmeval.results.task_info import ScoreInfo, TaskInfo


def rows(model: str, *labels: str | None) -> list[Row]:
    """Return two right formulas and a labelled wrong one for each label."""
    wrong = [
        row(
            f"w{i}",
            "incorrect",
            model=model,
            scores=(
                *eed(60 - 20 * i),
                Score(
                    name="kind", value=None, correct=None, decides=False, details={"label": label}
                ),
            ),
        )
        for i, label in enumerate(labels)
    ]
    return [*(row(f"r{i}", "correct", model=model, scores=eed(100)) for i in range(2)), *wrong]


def many_rows() -> list[Row]:
    """Return two right formulas and two wrong ones five times; efficiency needs twenty rows."""
    values = {"r0": 100, "r1": 100, "w0": 60, "w1": 40}
    return [
        row(f"{name}-{copy}", "correct" if value == 100 else "incorrect", scores=eed(value))
        for name, value in values.items()
        for copy in range(5)
    ]


KINDS = Display(
    labels={"label": {"PP": "Physical Perception", "RR": "Robust Reasoning"}},
    headings={"label": "wrong answers by kind of error"},
)


def summary(*parts: list[Row], group_by: tuple[str, ...] = ()) -> Summary:
    scores = (*EEDS, ScoreInfo(name="kind", decides=False, display=KINDS))
    info = TaskInfo(title="demo", scores=scores, group_by=group_by)
    return summarise([row for part in parts for row in part], {"demo": info})


def test_each_model_has_its_counts_by_kind() -> None:
    both = summary(rows("small", "PP", "RR"), rows("large", "RR", None))
    text = render_table(both, width=100, color=False)
    table = text.split(
        "wrong answers by kind of error: PP = Physical Perception, RR = Robust Reasoning\n"
    )[1]
    assert [line.split() for line in table.splitlines()[:3]] == [
        ["PP", "RR", "unlabelled"],
        ["large", "0", "1", "1"],
        ["small", "1", "1", "0"],
    ]
    assert "| large | 0 | 1 | 1 |" in render_markdown(both)


def test_a_run_without_labels_has_no_such_table() -> None:
    plain = summary([row("1"), row("2", "incorrect")])
    assert "kind of error" not in render_table(plain, width=100, color=False)
    assert "kind of error" not in render_markdown(plain)


def test_the_note_tells_ratio_excess_and_n() -> None:
    # 25/3 = 8.33, see tests/results: 733 % above 1.
    found = summary(many_rows())
    note = (
        "all: accuracy takes 8.33 × the samples of EED for the same relative error "
        "(+733 %, n = 20)."
    )
    assert note in render_table(found, width=120, color=False)
    assert f"- {note}" in render_markdown(found)


@pytest.mark.parametrize("width", [40, 60, 100])
def test_neither_is_wider_than_the_terminal(width: int) -> None:
    text = render_table(summary(many_rows(), rows("small", "PP", "RR")), width=width, color=False)
    assert max(map(cell_len, text.splitlines())) <= width
    assert "8.33 × the samples of EED" in re.sub(r"\s+", " ", text)


def test_groups_name_their_column_only_where_two_have_values() -> None:
    parts = [row("1", groups={"tag": ("OPTICS",)}), row("2", groups={"tag": ("MODERN",)})]
    names = ("tag", "difficulty")
    assert "  OPTICS" in render_table(summary(parts, group_by=names), width=100, color=False)
    parts.append(row("3", groups={"tag": ("OPTICS",), "difficulty": ("hard",)}))
    text = render_table(summary(parts, group_by=names), width=100, color=False)
    assert "  tag OPTICS" in text
    assert "  difficulty hard" in text
