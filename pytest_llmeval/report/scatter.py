"""The cost of a sample against accuracy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pytest_llmeval.report import numbers
from pytest_llmeval.report.whisker import interval_text, value_text, whisker
from pytest_llmeval.results.figures import Mean
from pytest_llmeval.results.summary import TaskSummary

_LOGARITHMIC_FROM: Final = 20
"""Ratio of the largest to the smallest cost from which the axis is logarithmic."""

_TICKS: Final = 4
"""Parts that ticks cut an axis into, at most."""

_APART: Final = (12.5, 9.0)
"""How far apart numbers must be, in per cent of the axes, so as not to meet on a phone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One task under one model; `left` and `up` count from the axes, in per cent.

    `marked`: no point with a lower number is so near that its number hides this one's.
    """

    number: int
    name: str
    left: float
    up: float
    low: float | None
    high: float | None
    cost: str
    value: str
    interval: str
    marked: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter:
    """Cost against accuracy, cheapest point first.

    `axis` names the measure of cost, `ticks` are labels at equal distances.
    """

    axis: str
    points: tuple[Point, ...]
    ticks: tuple[str, ...]


def scatter(entries: Sequence[tuple[str, TaskSummary]]) -> Scatter | None:
    """Return the plot for named entries; None when fewer than two have cost and accuracy.

    Output tokens stand for the cost where not every price is known.
    """
    found = [
        (name, entry.figures) for name, entry in entries if entry.figures.accuracy.value is not None
    ]
    priced = all(figures.usage.cost is not None and not figures.unpriced for _, figures in found)
    costs = [
        (figures.usage.cost or 0.0 if priced else figures.usage.output_tokens) / figures.samples
        for _, figures in found
    ]
    if len(found) < 2 or not any(costs):  # noqa: PLR2004 - a relation needs two points
        return None
    axis = _Axis.over(costs)
    cheapest_first = sorted(zip(costs, found, strict=True), key=lambda one: one[0])
    return Scatter(
        axis=f"{'US dollars' if priced else 'output tokens'} a sample"
        + (", logarithmic" if axis.logarithmic else ""),
        points=_marked(
            _point(number, name, figures.accuracy, axis.at(cost), _cost_text(cost, priced=priced))
            for number, (cost, (name, figures)) in enumerate(cheapest_first, 1)
        ),
        ticks=tuple(_cost_text(tick, priced=priced) for tick in axis.ticks()),
    )


def _marked(points: Iterable[Point]) -> tuple[Point, ...]:
    """Return the points, those without room for a number marked so."""
    done: list[Point] = []
    across, up = _APART
    for point in points:
        near = any(
            other.marked and abs(other.left - point.left) < across and abs(other.up - point.up) < up
            for other in done
        )
        done.append(replace(point, marked=not near))
    return tuple(done)


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
    """An axis of positive values: linear from 0 to `high`, or logarithmic between powers of ten.

    `step`: powers of ten between two ticks.
    """

    low: float
    high: float
    logarithmic: bool
    step: int = 1

    @classmethod
    def over(cls, values: Sequence[float]) -> _Axis:
        smallest, largest = min(values), max(values)
        if smallest > 0 and largest / smallest >= _LOGARITHMIC_FROM:
            first, last = math.floor(math.log10(smallest)), math.ceil(math.log10(largest))
            step = math.ceil((last - first) / _TICKS)
            last = first + step * math.ceil((last - first) / step)
            return cls(low=10.0**first, high=10.0**last, logarithmic=True, step=step)
        step = 10.0 ** math.floor(math.log10(largest))
        return cls(low=0.0, high=step * math.ceil(largest / step), logarithmic=False)

    def at(self, value: float) -> float:
        if self.logarithmic:
            return 100 * math.log10(value / self.low) / math.log10(self.high / self.low)
        return 100 * value / self.high

    def ticks(self) -> list[float]:
        if self.logarithmic:
            powers = round(math.log10(self.high / self.low))
            return [self.low * 10.0**power for power in range(0, powers + 1, self.step)]
        return [self.high * part / _TICKS for part in range(_TICKS + 1)]
