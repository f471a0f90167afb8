"""Two runs over the same samples: what a difference is worth. Pure functions of numbers."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, stdev
from typing import TypeAlias, TypeVar

from pytest_llmeval.results.bounded_mean import BoundedMean, critical
from pytest_llmeval.results.statistics import CONFIDENCE

_Key = TypeVar("_Key", bound=Hashable)

POWER = 0.8
"""The chance with which a difference of the smallest detectable size is to be found significant."""

Pairs: TypeAlias = Sequence[tuple[Sequence[float], Sequence[float]]]
"""A sample's values in a and in b, one an epoch; neither is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The differences ``b - a`` of paired samples, and what they are worth.

    `effect` is Cohen's d_z, `smallest` the smallest difference that these samples would show.
    None: undefined.
    """

    mean: BoundedMean
    effect: float | None
    smallest: float | None


def paired_difference(
    pairs: Pairs, *, scale: float = 1.0, confidence: float = CONFIDENCE
) -> Difference:
    """Return the difference ``b - a`` of one or more samples, of values in 0..`scale`.

    A sample's difference is that of its epoch means, so every sample weighs the same.
    """
    n = len(pairs)
    differences = [math.fsum(b) / len(b) - math.fsum(a) / len(a) for a, b in pairs]
    mean = BoundedMean.of(
        differences, lowest=-scale, highest=scale, continuity=_continuity(pairs, differences, scale)
    )
    spread = stdev(differences) if n > 1 else 0.0
    return Difference(
        mean=mean,
        effect=mean.mean / spread if spread else None,
        smallest=_smallest(spread, n, scale, confidence),
    )


def difference_of_outcomes(gained: int, lost: int, n: int) -> BoundedMean:
    """Return the difference of accuracy in one epoch of `n` samples."""
    counts = {1.0: gained, -1.0: lost, 0.0: n - gained - lost}
    return BoundedMean.of_differences(counts, continuity=continuity(gained + lost, n))


def continuity(flips: float, n: float, epochs: int = 1) -> float:
    """Return the correction for continuity of a sum of outcomes, in samples.

    The square root of the share of flipped samples: 1, as Edwards' for McNemar's test, where all
    flip; with epochs the sum moves in finer steps. Without it a drop of exactly the allowed size
    would pass too often where many samples flip; always 1 would cost a run like its baseline half
    as many samples again (docs/statistics.md has the figures).

    Args:
        flips: sum of abs(b - a) over the samples, in 0..n.
        n: number of samples.
        epochs: repetitions of each.
    """
    return math.sqrt(flips / n) / epochs


def _continuity(pairs: Pairs, differences: Sequence[float], scale: float) -> float:
    """Return the correction for values that are all or nothing; others have no steps."""
    if any(value not in {0.0, scale} for pair in pairs for values in pair for value in values):
        return 0.0
    epochs = max(len(values) for pair in pairs for values in pair)
    flips = math.fsum(map(abs, differences)) / scale
    return scale * continuity(flips, len(pairs), epochs)


def _smallest(spread: float, n: int, scale: float, confidence: float) -> float | None:
    """Return the true difference that is found significant with the chance POWER; None: none is."""
    fewest = fewest_flips(n, confidence)
    if fewest is None:
        return None
    usual = (critical(confidence) + NormalDist().inv_cdf(POWER)) * spread / math.sqrt(n)
    return max(usual, scale * fewest / n)


def fewest_flips(n: int, confidence: float = CONFIDENCE) -> int | None:
    """Return how many of `n` samples must flip, all one way, to be significant.

    None: all of them are too few.
    """
    z = critical(confidence)
    found = (k for k in range(1, n + 1) if k - continuity(k, n) >= z * math.sqrt(k))
    return next(found, None)


def holm(p_values: Mapping[_Key, float]) -> dict[_Key, float]:
    """Return the p-values adjusted for their number (Holm 1979), under the same keys."""
    adjusted: dict[_Key, float] = {}
    largest = 0.0
    for rank, (key, p_value) in enumerate(sorted(p_values.items(), key=lambda pair: pair[1])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_value))
        adjusted[key] = largest
    return {key: adjusted[key] for key in p_values}
