"""How often intervals and tests of several comparisons err, alone and after Holm.

python performance/adjusted_intervals.py

prints the table of docs/statistics.md. Comparisons of two runs of n samples in one epoch are drawn;
some of them differ truly, the others do not. A comparison holds its true difference d at a level if
abs(Z(d)) is at most the critical value of that level, which is what its interval says
(`results.bounded_mean`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pytest_llmeval.results.paired import difference_of_outcomes, holm

LEVEL = 0.05
DRAWS = 2_000
FLIPS = 0.2
"""Share of samples that flip one way or the other."""

CHANGE = 0.12
"""The true difference of those comparisons that have one."""

CASES = ((1, 0), (2, 1), (6, 0), (6, 3), (6, 5))
"""Comparisons together, and how many of them differ truly."""

SIZES = (48, 200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Shares of the draws: `..._each` of the comparisons, the others of the draws as a whole.

    Attributes:
        contradict: an interval says another thing than p (Holm); not adjusted, and adjusted.
        false: a comparison without a true difference is called different; by p, and by p (Holm).
        held_each: an interval holds its true difference; not adjusted, and adjusted.
        held_all: all intervals do.
    """

    contradict: tuple[float, float]
    false: tuple[float, float]
    held_each: tuple[float, float]
    held_all: tuple[float, float]


def rates(n: int, comparisons: int, differing: int, draws: int = DRAWS) -> Rates:
    """Return what happens to `comparisons`, of which the first `differing` differ truly."""
    generator = np.random.default_rng([n, comparisons, differing])
    truths = [CHANGE] * differing + [0.0] * (comparisons - differing)
    counts = [
        generator.multinomial(n, [(FLIPS + d) / 2, (FLIPS - d) / 2, 1 - FLIPS], size=draws)
        for d in truths
    ]
    found = sum(
        _happened(n, [(int(of[draw][0]), int(of[draw][1])) for of in counts], truths)
        for draw in range(draws)
    )
    contradict, false, each, together = (
        (float(first), float(second)) for first, second in np.asarray(found) / draws
    )
    return Rates(contradict=contradict, false=false, held_each=each, held_all=together)


def _happened(
    n: int, tables: Sequence[tuple[int, int]], truths: Sequence[float]
) -> NDArray[np.float64]:
    """Return the four rates of one draw, each without and with Holm; `tables`: gained and lost."""
    p_values = [_p_value(n, *table, 0.0) for table in tables]
    adjusted = holm(dict(enumerate(p_values)))
    told = np.array([adjusted[place] < LEVEL for place in adjusted])
    # The level of each adjusted interval, as `Change.adjusted_interval` takes it.
    levels = [LEVEL * p / adjusted[place] for place, p in enumerate(p_values)]
    by_level = np.array([[LEVEL] * len(tables), levels])
    fits = np.array([_p_value(n, *table, d) for table, d in zip(tables, truths, strict=True)])
    excludes, held = np.array(p_values) < by_level, fits >= by_level
    same = np.array(truths) == 0
    return np.array(
        [
            (excludes != told).any(axis=1),
            [excludes[0, same].any(), told[same].any()],
            held.mean(axis=1),
            held.all(axis=1),
        ],
        dtype=np.float64,
    )


@cache
def _p_value(n: int, gained: int, lost: int, change: float) -> float:
    return difference_of_outcomes(gained, lost, n).p_value(change)


def tables() -> Iterator[str]:
    """Yield the lines of the table, as Markdown; in each cell first not adjusted, then adjusted."""
    yield (
        "| samples | comparisons | of them differ | interval against p (Holm) "
        "| a false difference | each holds | all hold |"
    )
    yield "|---|---|---|---|---|---|---|"
    for n in SIZES:
        for comparisons, differing in CASES:
            found = rates(n, comparisons, differing)
            cells = (found.contradict, found.false, found.held_each, found.held_all)
            texts = " | ".join(f"{first:.3f}, {second:.3f}" for first, second in cells)
            yield f"| {n} | {comparisons} | {differing} | {texts} |"


if __name__ == "__main__":
    print("\n".join(tables()))
