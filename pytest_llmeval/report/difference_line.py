"""How one metric differs between two runs: values, interval on an axis, and what that says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from pytest_llmeval.report.comparison_sheet import p_value_text, signed, span
from pytest_llmeval.report.metric_text import metric_head, metric_value
from pytest_llmeval.report.whisker import Whisker
from pytest_llmeval.results.changes import Change
from pytest_llmeval.results.compare import Pair
from pytest_llmeval.results.statistics import Interval

Tone: TypeAlias = Literal["higher", "lower", "alone", "none", "uncompared"]

_REACHES: Final = (0.05, 0.1, 0.25, 0.5, 1.0)
"""Ends of the axis, as a share of the scale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceLine:
    """One metric of one pair. `whisker` is its own interval, `among_all` that after Holm.

    Both lie on an axis from -`reach` to `reach` of the metric's scale; None: it is not compared.
    """

    name: str
    a: str
    b: str
    difference: str
    interval: str
    p_value: str
    adjusted: str
    n: int
    verdict: str
    tone: Tone
    whisker: Whisker | None
    among_all: Whisker | None


def reach_of(pairs: Iterable[Pair]) -> float:
    """Return the end of an axis that has room for every interval, as a share of the scale."""
    shares = [
        abs(end) / change.scale
        for pair in pairs
        for change in pair.compared
        for interval in (change.interval, change.adjusted_interval)
        if interval is not None
        for end in (interval.low, interval.high)
    ]
    farthest = max(shares, default=0.0)
    return next((step for step in _REACHES if farthest <= step), _REACHES[-1])


def difference_line(change: Change, *, compared: bool, reach: float) -> DifferenceLine:
    """Return a metric's line; `compared`: graders are the same, so that it may be compared."""
    axis = change.scale * reach
    adjusted = change.adjusted_interval
    verdict, tone = _verdict(change) if compared else ("graders differ: not compared", "uncompared")
    return DifferenceLine(
        name=metric_head(change),
        a=metric_value(change.a, change),
        b=metric_value(change.b, change),
        difference=signed(change.difference, change) if compared else "",
        interval=span(change, change.interval) if compared else "",
        p_value=p_value_text(change.p_value, change.confidence) if compared else "",
        adjusted=p_value_text(change.adjusted, change.confidence) if compared else "",
        n=change.n,
        verdict=verdict,
        tone=tone,
        whisker=_whisker(change, change.interval, axis) if compared else None,
        among_all=_whisker(change, adjusted, axis) if compared and adjusted is not None else None,
    )


def _verdict(change: Change) -> tuple[str, Tone]:
    direction: Tone = "higher" if change.difference > 0 else "lower"
    if change.differs_among_all:
        return f"{direction} in b", direction
    if change.differs:
        return f"{direction} in b by itself, not among {change.together:,} differences", "alone"
    return "no difference shown", "none"


def _whisker(change: Change, interval: Interval, axis: float) -> Whisker:
    at, low, high = (
        50 + 50 * value / axis for value in (change.difference, interval.low, interval.high)
    )
    return Whisker(at=at, low=low, high=high)
