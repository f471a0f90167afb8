"""A comparison of two runs, as texts and positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.comparison_sheet import comparison_sheets
from pytest_llmeval.report.sheet import Sheet
from pytest_llmeval.report.whisker import Whisker
from pytest_llmeval.results.changes import Change
from pytest_llmeval.results.compare import Comparison, Pair

MOST_FLIPPED: Final = 300
"""Samples that a list of flipped ones names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferencePlot:
    """One metric's difference b - a; `reach` is the axis' end on both sides of 0."""

    name: str
    whisker: Whisker
    reach: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Flipped:
    """Samples that went one way; `more` are not named."""

    title: str
    outcome: str
    ids: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One pair of parts; `sheet` holds its figures and notes."""

    sheet: Sheet
    differences: tuple[DifferencePlot, ...]
    flipped: tuple[Flipped, ...]
    part: tuple[str, str, str]


def compared(comparison: Comparison) -> tuple[tuple[Compared, ...], tuple[Sheet, ...]]:
    """Return the pairs, and the sheets that belong to no pair."""
    sheets = comparison_sheets(comparison)
    pairs = tuple(
        _compared(pair, sheet) for pair, sheet in zip(comparison.pairs, sheets, strict=False)
    )
    return pairs, sheets[len(pairs) :]


def _compared(pair: Pair, sheet: Sheet) -> Compared:
    return Compared(
        sheet=sheet,
        differences=tuple(_difference(change) for change in pair.compared),
        flipped=tuple(
            _flipped(title, outcome, ids)
            for title, outcome, ids in (
                ("Correct more often in b", "correct", pair.gained),
                ("Correct less often in b", "incorrect", pair.lost),
            )
            if ids
        ),
        part=(pair.task, pair.model_b, pair.test),
    )


def _difference(change: Change) -> DifferencePlot:
    """Return where a difference stands on an axis that is just wide enough for its interval."""
    ends = [abs(end) for end in (change.low, change.high, change.difference) if end is not None]
    share = max(ends) / change.scale
    reach = next(step for step in (0.05, 0.1, 0.25, 0.5, 1.0) if share <= step or step == 1.0)
    low, high = (
        None if end is None else _place(end, change.scale * reach)
        for end in (change.low, change.high)
    )
    return DifferencePlot(
        name=clean(change.name),
        whisker=Whisker(at=_place(change.difference, change.scale * reach), low=low, high=high),
        reach=f"{100 * reach:g} points"
        if change.name == "accuracy"
        else f"{change.scale * reach:g}",
    )


def _place(value: float, reach: float) -> float:
    return 50 + 50 * value / reach


def _flipped(title: str, outcome: str, ids: Sequence[str]) -> Flipped:
    return Flipped(
        title=title,
        outcome=outcome,
        ids=tuple(clean(one) for one in ids[:MOST_FLIPPED]),
        more=len(ids[MOST_FLIPPED:]),
    )
