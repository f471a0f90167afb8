"""What was compared of each run's rows, and what was left out, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytest_llmeval.report.clean import clean
from pytest_llmeval.results.row_use import RowUse

_REASONS: Final[Mapping[str, str]] = {
    "error": "errors",
    "unscored": "unscored",
    "not_run": "not run",
    "alone": "of samples that not all scored",
    "retargeted": "whose target changed",
    "requestioned": "whose question changed",
    "unpaired": "of a task, test or model without a counterpart",
}
"""By the field of `RowUse`, what is said of the rows in it."""


def use_text(name: str, use: RowUse) -> str:
    """Return a line such as ``a: RUN · 12 rows, 10 compared; left out: 2 errors``."""
    said = f"{clean(name)} · {use.rows:,} rows, {use.compared:,} compared"
    left = [f"{n:,} {words}" for field, words in _REASONS.items() if (n := getattr(use, field))]
    return f"{said}; left out: {', '.join(left)}" if left else said


def superseded_text(superseded: int) -> str:
    """Return what is said of lines of rows that a later report replaced."""
    return f"{superseded:,} lines of rows.jsonl do not count: a later one has the same key"
