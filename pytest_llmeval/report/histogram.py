"""The distribution of a score's values."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.records import Row
from pytest_llmeval.report.clean import clean
from pytest_llmeval.results.figures import Mean
from pytest_llmeval.results.rows import SCORED, last_scores

BINS: Final = 20
"""Bars of a distribution, besides the one for full scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar: its place in per cent of the plot's width, its height in per cent of the plot's."""

    left: float
    width: float
    height: float
    count: int
    label: str
    full: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How a score is distributed over `n` rows; the last tick is that of the bar of full scores."""

    title: str
    n: int
    bars: tuple[Bar, ...]
    ticks: tuple[str, ...]


def histogram(rows: Iterable[Row], score: Mean) -> Histogram:
    """Return how a score's values are distributed; full ones have a bar of their own."""
    values = [
        one.value
        for row in rows
        if row.outcome in SCORED
        for one in last_scores(row).values()
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
    ticks = tuple(f"{score.scale * part / 4:.3g}" for part in range(5))
    return Histogram(title=clean(score.name), n=len(values), bars=bars, ticks=ticks)
