"""Where things stand in a plot: figures in, positions out.

Horizontally in per cent, so that plots fit any width.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.records import Row
from pytest_llmeval.report import numbers
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.sheet import repeats_accuracy
from pytest_llmeval.results.metrics import SCORED
from pytest_llmeval.results.summary import Mean, Tally, TaskSummary

MOST_GROUPS: Final = 40
"""Groups that a plot shows; more stand in the table of all figures."""

BINS: Final = 20
"""Bars of a distribution, besides the one for full scores."""

_LOGARITHMIC_FROM: Final = 20
"""Ratio of the largest to the smallest cost from which the axis is logarithmic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whisker:
    """A value and its interval on an axis, in per cent of the axis' length; `low` is None without an interval."""

    at: float
    low: float | None = None
    high: float | None = None

    @property
    def width(self) -> float:
        """How long the interval is."""
        return 0.0 if self.low is None or self.high is None else self.high - self.low


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """One row of a dot plot; `series` numbers the models, `whisker` is None where there is no value."""

    label: str
    series: int
    name: str
    value: str
    interval: str
    n: int
    whisker: Whisker | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DotPlot:
    """A mean by group, with intervals; `ticks` are the labels at 0, 25, 50, 75 and 100 per cent of the axis."""

    title: str
    dots: tuple[Dot, ...]
    ticks: tuple[str, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar of a distribution: its place in per cent of the width, its height in per cent of the plot's."""

    left: float
    width: float
    height: float
    count: int
    label: str
    full: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How a score is distributed over `n` rows."""

    title: str
    n: int
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One task under one model in the plot of cost against score; `up` counts from the axis, in per cent."""

    number: int
    name: str
    left: float
    up: float
    low: float | None
    high: float | None
    cost: str
    value: str
    interval: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter:
    """Cost against accuracy; `axis` says what stands for the cost, `ticks` are (per cent, label)."""

    axis: str
    points: tuple[Point, ...]
    ticks: tuple[tuple[float, str], ...]


def whisker(mean: Mean) -> Whisker | None:
    """Return where a mean and its interval stand on an axis from 0 to its scale."""
    if mean.value is None:
        return None
    low, high = (None if end is None else 100 * end / mean.scale for end in (mean.low, mean.high))
    return Whisker(at=100 * mean.value / mean.scale, low=low, high=high)


def value_text(mean: Mean) -> str:
    """Return a mean in words: accuracy and shares in per cent, scores in their scale."""
    return numbers.percent(mean.value) if mean.scale == 1 else numbers.score(mean.value, mean.scale)


def interval_text(mean: Mean) -> str:
    """Return a mean's interval in words."""
    if mean.low is None or mean.high is None:
        return numbers.NONE
    factor = 100 if mean.scale == 1 else 1
    return numbers.interval(factor * mean.low, factor * mean.high, factor * mean.scale)


def graded(tally: Tally) -> tuple[Mean, ...]:
    """Return the scores that say more than right or wrong: those that differ from the accuracy."""
    return tuple(mean for mean in tally.scores if not repeats_accuracy(mean, tally))


def dot_plots(entries: Sequence[TaskSummary]) -> tuple[DotPlot, ...]:
    """Return, for each column that a task is grouped by, the accuracy by group and the first graded score by group."""
    plots = []
    scores = tuple(dict.fromkeys(mean.name for entry in entries for mean in graded(entry.tally)))
    for key in dict.fromkeys(group.key for entry in entries for group in entry.groups):
        plots += [_dot_plot(entries, key, name) for name in ("accuracy", *scores[:1])]
    return tuple(plots)


def _dot_plot(entries: Sequence[TaskSummary], key: str, name: str) -> DotPlot:
    values = sorted(
        {group.value for entry in entries for group in entry.groups if group.key == key}
    )
    dots, scale = [], 1.0
    for value in values[:MOST_GROUPS]:
        for series, entry in enumerate(entries):
            tally = next(
                (one.tally for one in entry.groups if (one.key, one.value) == (key, value)), None
            )
            mean = None if tally is None else _mean(tally, name)
            if mean is not None:
                scale = mean.scale
                dots.append(_dot(mean, value, series, entry))
    ends = (
        ("0", "25", "50", "75", "100 %")
        if scale == 1
        else tuple(f"{scale * part / 4:g}" for part in range(5))
    )
    title = f"{'Accuracy' if name == 'accuracy' else clean(name)} by {clean(key)}"
    return DotPlot(title=title, dots=tuple(dots), ticks=ends, left_out=len(values[MOST_GROUPS:]))


def _dot(mean: Mean, value: str, series: int, entry: TaskSummary) -> Dot:
    return Dot(
        label=clean(value) or numbers.NONE,
        series=series,
        name=clean(entry.model),
        value=value_text(mean),
        interval=interval_text(mean),
        n=mean.n,
        whisker=whisker(mean),
    )


def _mean(tally: Tally, name: str) -> Mean | None:
    means = (tally.accuracy, *tally.scores)
    return next((mean for mean in means if mean.name == name), None)


def histogram(rows: Iterable[Row], score: Mean) -> Histogram:
    """Return how a score's values are distributed; full ones have a bar of their own."""
    values = [
        one.value
        for row in rows
        if row.outcome in SCORED
        for one in {score.name: score for score in row.scores}.values()
        if one.name == score.name and one.value is not None
    ]
    counts = [0] * (BINS + 1)
    for value in values:
        counts[
            BINS if value >= score.scale else max(0, math.floor(BINS * value / score.scale))
        ] += 1
    most, width = max(counts), 100 / (BINS + 1)
    ends = [f"{score.scale * place / BINS:g}" for place in range(BINS + 1)]
    bars = tuple(
        Bar(
            left=place * width,
            width=width,
            height=100 * count / most if most else 0.0,
            count=count,
            label=ends[place] if place == BINS else f"{ends[place]} to {ends[place + 1]}",
            full=place == BINS,
        )
        for place, count in enumerate(counts)
    )
    return Histogram(title=clean(score.name), n=len(values), bars=bars)


def scatter(entries: Sequence[tuple[str, TaskSummary]]) -> Scatter | None:
    """Return the cost of a sample against accuracy, for named entries; None when fewer than two can be placed.

    Output tokens stand for the cost where not every price is known.
    """
    found = [
        (name, entry.tally) for name, entry in entries if entry.tally.accuracy.value is not None
    ]
    priced = all(tally.usage.cost is not None and not tally.unpriced for _, tally in found)
    costs = [
        (tally.usage.cost or 0.0 if priced else tally.usage.output_tokens) / tally.samples
        for _, tally in found
    ]
    if len(found) < 2 or not any(costs):  # noqa: PLR2004 - a single point tells no relation
        return None
    axis = _Axis.over(costs)
    return Scatter(
        axis=f"{'US dollars' if priced else 'output tokens'} a sample"
        + (", logarithmic" if axis.logarithmic else ""),
        points=tuple(
            _point(number, name, tally.accuracy, axis.at(cost), _cost_text(cost, priced=priced))
            for number, ((name, tally), cost) in enumerate(zip(found, costs, strict=True), 1)
        ),
        ticks=tuple((axis.at(tick), _cost_text(tick, priced=priced)) for tick in axis.ticks()),
    )


def _point(number: int, name: str, mean: Mean, left: float, cost: str) -> Point:
    place = whisker(mean)
    return Point(
        number=number,
        name=name,
        left=left,
        up=0.0 if place is None else place.at,
        low=None if place is None else place.low,
        high=None if place is None else place.high,
        cost=cost,
        value=value_text(mean),
        interval=interval_text(mean),
    )


def _cost_text(cost: float, *, priced: bool) -> str:
    return numbers.money(cost) if priced else f"{cost:,.0f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Axis:
    """An axis of positive values: linear from 0 to `high`, or logarithmic between powers of ten."""

    low: float
    high: float
    logarithmic: bool

    @classmethod
    def over(cls, values: Sequence[float]) -> _Axis:
        smallest, largest = min(values), max(values)
        if smallest > 0 and largest / smallest >= _LOGARITHMIC_FROM:
            ends = math.floor(math.log10(smallest)), math.ceil(math.log10(largest))
            return cls(low=10.0 ** ends[0], high=10.0 ** ends[1], logarithmic=True)
        step = 10.0 ** math.floor(math.log10(largest))
        return cls(low=0.0, high=step * math.ceil(largest / step), logarithmic=False)

    def at(self, value: float) -> float:
        if self.logarithmic:
            return 100 * math.log10(value / self.low) / math.log10(self.high / self.low)
        return 100 * value / self.high

    def ticks(self) -> list[float]:
        if self.logarithmic:
            return [
                self.low * 10.0**power
                for power in range(round(math.log10(self.high / self.low)) + 1)
            ]
        return [self.high * part / 4 for part in range(5)]
