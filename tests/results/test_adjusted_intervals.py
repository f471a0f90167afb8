"""How often intervals and tests of several comparisons err: docs/statistics.md has the figures."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT: dict[str, Any] = runpy.run_path(str(ROOT / "performance" / "adjusted_intervals.py"))
PAGE = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")

DRAWS = 500
ERROR = 3 * (0.05 * 0.95 / DRAWS) ** 0.5
"""Three standard errors of a share of the draws that is truly 5 %."""


@pytest.mark.parametrize("comparisons", [2, 4])
@pytest.mark.parametrize("differing", [0, 1])
def test_adjusted_intervals_agree_with_holm_and_err_no_more_often_than_they_say(
    comparisons: int, differing: int
) -> None:
    found = SCRIPT["rates"](30, comparisons, differing, draws=DRAWS)
    assert found.contradict[1] == 0
    assert found.false[1] <= 0.05 + ERROR
    assert all(share >= 0.95 - ERROR for share in found.held_each)


def test_intervals_that_are_not_adjusted_contradict_holm_among_several_comparisons() -> None:
    assert SCRIPT["rates"](30, 4, 1, draws=DRAWS).contradict[0] > 0.1


def test_the_page_has_the_figures_that_the_code_gives() -> None:
    assert "\n".join(SCRIPT["tables"]()) in PAGE
