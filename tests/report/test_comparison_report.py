from __future__ import annotations

import pytest
from example_rows import eed, row
from rich.cells import cell_len

from pytest_llmeval.report.markdown import render_comparison_markdown
from pytest_llmeval.report.table import render_comparison
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
    for figure in ("60.0 %", "90.0 %", "+30.0", "0.305", "90.0", "95.0", "+5.0"):
        assert figure in text
    assert "gained: 4 (6, 7, 8, 9)" in text
    assert "lost: 1 (0)" in text
    assert "without a counterpart" in text
    assert max(map(cell_len, text.splitlines())) <= width


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
