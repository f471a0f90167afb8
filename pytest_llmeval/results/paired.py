"""Two runs over the same samples: what a difference is worth. Pure functions of numbers."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, stdev
from typing import TypeAlias, TypeVar

import numpy as np

from pytest_llmeval.results.statistics import (
    CONFIDENCE,
    RESAMPLES,
    SEED,
    Interval,
    bca_interval,
    resampled_means,
)

_Key = TypeVar("_Key", bound=Hashable)

POWER = 0.8
"""The chance with which a difference of the smallest detectable size is to be found significant."""

Pairs: TypeAlias = Sequence[tuple[Sequence[float], Sequence[float]]]
"""A sample's values in a and in b, one an epoch; neither is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The mean of ``b - a`` over `n` paired samples, with its interval.

    `p_value` is two-sided; `effect` is Cohen's d_z; `smallest` is the smallest difference that
    these samples would show. None: undefined.
    """

    value: float
    n: int
    interval: Interval
    p_value: float | None
    effect: float | None
    smallest: float | None


def paired_difference(
    pairs: Pairs, *, scale: float = 1.0, confidence: float = CONFIDENCE, seed: int = SEED
) -> Difference:
    """Return the mean of ``b - a`` over one or more samples, of values in 0..`scale`.

    A sample's difference is that of its epoch means, so every sample weighs the same. The p-value
    is the share of resampled means that lie as far from their centre as the mean lies from 0.
    """
    n = len(pairs)
    differences = [math.fsum(b) / len(b) - math.fsum(a) / len(a) for a, b in pairs]
    value = math.fsum(differences) / n
    spread = stdev(differences) if n > 1 else 0.0
    if not spread:
        alike, p_value = _alike(value, n, scale, confidence), 1.0 if value == 0 else None
        return Difference(
            value=value, n=n, interval=alike, p_value=p_value, effect=None, smallest=None
        )
    sums, ones = np.array(differences), np.ones(n)
    draws = resampled_means(sums, ones, RESAMPLES, seed)
    farther = int(np.sum(np.abs(draws - value) >= abs(value)))
    return Difference(
        value=value,
        n=n,
        interval=bca_interval(sums, ones, draws, confidence),
        p_value=(farther + 1) / (RESAMPLES + 1),
        effect=value / spread,
        smallest=_smallest(spread, n, confidence),
    )


def _alike(value: float, n: int, scale: float, confidence: float) -> Interval:
    """Return the interval of a difference that all `n` samples show alike.

    A sample that behaves otherwise may be rarer than one in `n`: by Clopper and Pearson's bound for
    0 of n, at most a share 1 - (α/2)^(1/n) of all samples does, and each by no more than `scale`.
    """
    unseen = 1 - ((1 - confidence) / 2) ** (1 / n)
    return Interval(
        low=max(-scale, value - unseen * scale), high=min(scale, value + unseen * scale)
    )


def _smallest(spread: float, n: int, confidence: float) -> float:
    """Return the true difference that is found significant with the chance POWER."""
    normal = NormalDist()
    return (normal.inv_cdf((1 + confidence) / 2) + normal.inv_cdf(POWER)) * spread / math.sqrt(n)


def mcnemar(only_a: int, only_b: int) -> float:
    """Return the two-sided p-value of McNemar's exact test.

    `only_a` and `only_b` count the samples that exactly one of the two got right; under the null
    hypothesis each falls to either side with chance 1/2. Without such a sample nothing differs: 1.
    """
    discordant = only_a + only_b
    tail = sum(math.comb(discordant, i) for i in range(min(only_a, only_b) + 1))
    return min(1.0, 2 * tail / (1 << discordant))


def smallest_share(n: int, level: float = 1 - CONFIDENCE) -> float | None:
    """Return the smallest share of `n` samples that McNemar's exact test finds significant.

    All of them must have changed in one direction. None when all `n` are too few at `level`.
    """
    flips = math.ceil(1 - math.log2(level))
    return flips / n if flips <= n else None


def holm(p_values: Mapping[_Key, float]) -> dict[_Key, float]:
    """Return the p-values adjusted for their number (Holm 1979), under the same keys."""
    adjusted: dict[_Key, float] = {}
    largest = 0.0
    for rank, (key, p_value) in enumerate(sorted(p_values.items(), key=lambda pair: pair[1])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_value))
        adjusted[key] = largest
    return {key: adjusted[key] for key in p_values}
