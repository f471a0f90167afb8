"""A comparison of two runs, as texts and positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from pytest_llmeval.report.address import Addresses
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


class FlippedSample(NamedTuple):
    """A sample's id, and its address in the page; "" where the page does not have its rows."""

    name: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Flipped:
    """Samples that went one way; `more` are not named."""

    title: str
    outcome: str
    samples: tuple[FlippedSample, ...]
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One pair of parts; `sheet` holds its figures and notes."""

    sheet: Sheet
    differences: tuple[DifferencePlot, ...]
    flipped: tuple[Flipped, ...]


def compared(
    comparison: Comparison, addresses: Addresses | None = None
) -> tuple[tuple[Compared, ...], tuple[Sheet, ...]]:
    """Return the pairs, and the sheets that belong to no pair.

    `addresses` are those of the rows of b in the page; None if it has none.
    """
    sheets = comparison_sheets(comparison)
    pairs = tuple(
        _compared(pair, sheet, addresses)
        for pair, sheet in zip(comparison.pairs, sheets, strict=False)
    )
    return pairs, sheets[len(pairs) :]


def _compared(pair: Pair, sheet: Sheet, addresses: Addresses | None) -> Compared:
    def sample(name: str) -> FlippedSample:
        found = "" if addresses is None else addresses.of(pair.task, pair.test, name, pair.model_b)
        return FlippedSample(clean(name), found)

    return Compared(
        sheet=sheet,
        differences=tuple(_difference(change) for change in pair.compared),
        flipped=tuple(
            _flipped(title, outcome, ids, sample)
            for title, outcome, ids in (
                ("Correct more often in b", "correct", pair.gained),
                ("Correct less often in b", "incorrect", pair.lost),
            )
            if ids
        ),
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


def _flipped(
    title: str, outcome: str, ids: Sequence[str], sample: Callable[[str], FlippedSample]
) -> Flipped:
    return Flipped(
        title=title,
        outcome=outcome,
        samples=tuple(map(sample, ids[:MOST_FLIPPED])),
        more=len(ids[MOST_FLIPPED:]),
    )
