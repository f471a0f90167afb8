"""The uncertainty of any number that is worked out from rows: whole samples are redrawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import stdev
from typing import Final, NamedTuple

from msgspec.structs import replace

from pytest_llmeval.records import Row
from pytest_llmeval.results.rows import parted
from pytest_llmeval.results.statistics import CONFIDENCE

SEED: Final = 0
"""Every resampling starts here, so that equal rows give equal intervals."""

RESAMPLES: Final = 1_000
"""Draws, each of which calls the function once."""

MOST_ROWS: Final = 5_000_000
"""Rows that all draws may have together; beyond it there are fewer draws."""

FEWEST: Final = 200
"""Draws that are made of any number of rows."""


class Uncertainty(NamedTuple):
    """The standard error and the 95 % interval of a number; None where they are undefined."""

    standard_error: float | None = None
    low: float | None = None
    high: float | None = None


def uncertainty(rows: Sequence[Row], value: Callable[[Sequence[Row]], float | None]) -> Uncertainty:
    """Return the uncertainty of ``value(rows)`` by a cluster bootstrap over samples (percentiles).

    A sample that is drawn twice counts as two samples: its rows come back under another id. Draws
    for which the value is None are left out. Nothing is known from fewer than two samples, or when
    all draws give the same value. Equal rows give equal results.
    """
    clusters = list(parted(rows, lambda row: row.sample).values())
    samples = len(clusters)
    if samples < 2:  # noqa: PLR2004 - a spread needs two
        return Uncertainty()
    import numpy as np  # noqa: PLC0415 - 0.1 s, and most runs draw nothing

    resamples = max(FEWEST, min(RESAMPLES, MOST_ROWS // len(rows)))
    generator, copies = np.random.default_rng(SEED), _Copies(clusters)
    draws = []
    for _ in range(resamples):
        drawn = value(copies.of(generator.integers(0, samples, size=samples).tolist()))
        if drawn is not None:
            draws.append(drawn)
    if len(draws) < 2 or min(draws) == max(draws):  # noqa: PLR2004 - as above
        return Uncertainty()
    low, high = np.quantile(draws, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Uncertainty(stdev(draws), float(low), float(high))


class _Copies:
    """The rows of samples, with another sample id for each further time that one is drawn."""

    def __init__(self, clusters: Sequence[Sequence[Row]]) -> None:
        self._clusters = clusters
        self._made: dict[tuple[int, int], list[Row]] = {}

    def of(self, chosen: Sequence[int]) -> list[Row]:
        times: dict[int, int] = {}
        rows: list[Row] = []
        for place in chosen:
            times[place] = time = times.get(place, -1) + 1
            rows += self._copy(place, time) if time else self._clusters[place]
        return rows

    def _copy(self, place: int, time: int) -> list[Row]:
        if (place, time) not in self._made:
            self._made[place, time] = [
                replace(row, sample=f"{row.sample}\0{time}") for row in self._clusters[place]
            ]
        return self._made[place, time]
