"""How often gates decide rightly: every possible run is enumerated, none is drawn at random.

python performance/gate_characteristics.py

prints the tables of docs/statistics.md. A run of n samples against its baseline is a table of
gained, lost and unchanged samples, whose chance is multinomial. What the gate says of each is asked
of the code that it runs on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pytest_llmeval.results.bounded_mean import critical
from pytest_llmeval.results.paired import difference_of_outcomes
from pytest_llmeval.results.statistics import wilson

Z = critical(0.95)
SIZES = (20, 48, 100, 200)
DROPS = (0.0, 0.02, 0.05, 0.1)
FLIPS = (0.0, 0.02, 0.05, 0.1, 0.2)
BOUNDS = (0.1, 0.3, 0.5, 0.7, 0.9)
NUISANCE = 100
"""Rates of flips at which the largest chance is looked for."""

_LOG_FACTORIALS = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, 5_001)))])


def passes(gained: int, lost: int, n: int, drop: float) -> bool:
    """Whether `max_drop` passes: all of the interval lies above -`drop`."""
    return difference_of_outcomes(gained, lost, n).z(-drop) > Z


@cache
def fewest_gained(n: int, drop: float) -> tuple[int, ...]:
    """Return, by the number of lost samples, the fewest gained ones that pass; n + 1: none do."""
    fewest, least = [], 0
    for lost in range(n + 1):
        # One more lost sample never needs fewer gained ones.
        while least <= n - lost and not passes(least, lost, n, drop):
            least += 1
        fewest.append(least if least <= n - lost else n + 1)
    return tuple(fewest)


def chance(fewest: Sequence[int], gaining: float, losing: float) -> float:
    """Return the chance of a run with so many gained samples, given the rates of both.

    For each number of lost samples: that of so many, times that of enough gained among the others.
    """
    n = len(fewest) - 1
    total = 0.0
    for lost, lost_chance in enumerate(_binomial(n, losing)):
        rate = min(1.0, gaining / (1 - losing)) if losing < 1 else 0.0
        if fewest[lost] <= n - lost and lost_chance > 0:
            total += lost_chance * float(_binomial(n - lost, rate)[fewest[lost] :].sum())
    return total


def false_passes(n: int, drop: float) -> float:
    """Return the largest chance to pass, over all rates of flips, with a true drop of `drop`."""
    fewest = fewest_gained(n, drop)
    rates = np.linspace(0, (1 - drop) / 2, NUISANCE + 1)
    return max(chance(fewest, float(gaining), float(gaining) + drop) for gaining in rates)


def power(n: int, drop: float, flips: float) -> float:
    """Return the chance to pass of a run that is as good as its baseline."""
    return chance(fewest_gained(n, drop), flips / 2, flips / 2)


def passes_minimum(n: int, minimum: float, accuracy: float) -> float:
    """Return the chance that `min` passes for a model of this true accuracy."""
    passing = [k for k in range(n + 1) if wilson(k / n, n).low >= minimum]
    return float(_binomial(n, accuracy)[passing].sum())


def _binomial(n: int, rate: float) -> NDArray[np.float64]:
    """Return the chances of 0 to `n` successes."""
    if rate in {0.0, 1.0}:
        certain = np.zeros(n + 1)
        certain[round(rate) * n] = 1.0
        return certain
    counts = np.arange(n + 1)
    ways = _LOG_FACTORIALS[n] - _LOG_FACTORIALS[counts] - _LOG_FACTORIALS[n - counts]
    chances = np.exp(ways + counts * math.log(rate) + (n - counts) * math.log1p(-rate))
    return np.asarray(chances, dtype=np.float64)


def tables() -> Iterator[str]:
    """Yield the lines of all tables, as Markdown."""
    yield "A true drop of exactly `max_drop`; the largest chance to pass, over all rates of flips:"
    yield ""
    yield from _table("max_drop", DROPS, lambda drop, n: f"{false_passes(n, drop):.3f}")
    yield ""
    yield "No true change, `max_drop: 0.05`; the chance to pass, by the share of samples that flip:"
    yield ""
    yield from _table("flips", FLIPS, lambda flips, n: f"{power(n, 0.05, flips):.2f}")
    yield ""
    yield "`min` for an accuracy that is exactly the bound; the chance to pass:"
    yield ""
    yield from _table("min", BOUNDS, lambda low, n: f"{passes_minimum(n, low, low):.3f}")


def _table(head: str, rows: Sequence[float], cell: Callable[[float, int], str]) -> Iterator[str]:
    yield f"| {head} | " + " | ".join(f"n = {n}" for n in SIZES) + " |"
    yield "|---|" + "---|" * len(SIZES)
    for row in rows:
        yield f"| {row:g} | " + " | ".join(cell(row, n) for n in SIZES) + " |"


if __name__ == "__main__":
    print("\n".join(tables()))
