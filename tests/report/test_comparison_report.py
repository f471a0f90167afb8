from __future__ import annotations

import re

import pytest
from example_rows import eed, row
from rich.cells import cell_len

from pytest_llmeval.records import Row
from pytest_llmeval.report.comparison_table import comparison_table
from pytest_llmeval.report.markdown import render_comparison_markdown
from pytest_llmeval.report.table import render_comparison, render_sheets
from pytest_llmeval.results.compare import Comparison, compare


@pytest.fixture
def comparison() -> Comparison:
    """Ten samples: six right before, nine after; one was lost."""
    before = [
        row(str(i), "correct" if i < 6 else "incorrect", scores=eed(100 if i < 6 else 10 * i))
        for i in range(10)
    ]
    after = [
        row(str(i), "incorrect" if i == 0 else "correct", scores=eed(50 if i == 0 else 100))
        for i in range(10)
    ]
    return compare(before, [*after, row("new", task="other")])


@pytest.mark.parametrize("width", [40, 80, 140])
def test_a_comparison_tells_values_difference_flips_and_chance(
    comparison: Comparison, width: int
) -> None:
    text = render_comparison(comparison, width=width, color=False)
    # Accuracy 60 to 90; 1 against 4 of 10: (3 - sqrt(0.5)) / sqrt(5) = 1.025, so p is 0.305. EED
    # (600 + 60+70+80+90) / 10 = 90, then 95.
    for figure in ("60.0 %", "90.0 %", "+30.0", "90.0", "95.0", "+5.0"):
        assert figure in text
    _, _, left_out = text.partition(f"not shown in {width} columns: ")
    assert ("0.305" in text) != bool(re.search(r"\bp,", left_out))
    assert "gained: 4 (6, 7, 8, 9)" in text
    assert "lost: 1 (0)" in text
    assert "without a counterpart" in text
    assert max(map(cell_len, text.splitlines())) <= width


@pytest.mark.parametrize("width", [40, 80, 140])
def test_all_tasks_of_two_runs_stand_in_one_table(width: int) -> None:
    def of_run(right: int) -> list[Row]:
        return [
            row(str(i), "correct" if i < right else "incorrect", task=task)
            for task in ("first", "second_task_with_a_long_name")
            for i in range(40 if task == "first" else 10)
        ]

    found = compare(of_run(9), of_run(30))
    text = render_sheets([comparison_table(found)], width=width, color=True)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert max(map(cell_len, plain.splitlines())) <= width
    assert re.search(r"^task .* b - a", plain, re.MULTILINE)
    assert len(re.findall(r"^(?:first|second)\S* .*\+\d+\.\d", plain, re.MULTILINE)) == 2
    assert re.search(r"\x1b\[1;32m *\+52\.5", text)  # better, and not by chance
    told = " ".join(plain.split())
    for head in ("d_z", "would show", "lost"):
        assert bool(re.search(rf"not shown in .*\b{head}\b", told)) != bool(
            re.search(rf"^task .*\b{head}\b", plain, re.MULTILINE)
        )


def test_the_markdown_holds_the_same(comparison: Comparison) -> None:
    text = render_comparison_markdown(comparison)
    assert "| accuracy | 60.0 % | 90.0 % | +30.0 |" in text
    assert "- lost: 1 (0)" in text


def test_hostile_names_stay_harmless() -> None:
    hostile = "\x1b[2J[red]|<b>\u202e\n"
    rows = [
        row(hostile + str(i), "correct", model=hostile, task=hostile, versions={hostile: i})
        for i in range(3)
    ]
    other = [row(hostile + str(i), "incorrect", model=hostile, task=hostile) for i in range(3)]
    text = render_comparison(compare(rows, other), width=80, color=False)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "<b>" not in render_comparison_markdown(compare(rows, other))
