"""The mean of bounded values: its score interval, and the test that belongs to it.

Values such as scores in 0..100 or differences of outcomes in -1..1 cannot leave their bounds. To
ask whether their true mean may be m, the distribution with mean m is taken that makes the values
seen most likely, among all distributions on these values and on the two bounds (a restricted
maximum of the empirical likelihood; Owen 1988). Its variance V(m) gives

    Z(m) = (mean - m) / sqrt(V(m) / n)

The interval holds every m with abs(Z(m)) <= z, and the p-value of m is that of Z(m): the two cannot
contradict each other. The bounds may get weight though nobody saw them, so a loss that hit no
sample yet is allowed for. On values 0 and 1 this is Wilson's interval (1927), on differences
-1, 0, 1 that of Tango (1998).

Where all samples are alike the normal distribution says too much, and Z is bounded by the exact
chance that no sample shows what a true mean m would take: (1 - q)^n, if a share q lies at a bound.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Self

from pytest_llmeval.results.statistics import CONFIDENCE, Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NORMAL = NormalDist()

_STEPS = 200
"""Most steps of a search; about 15 are usual."""

_TOLERANCE = 1e-13
"""Width, as a share of the first one, at which a search ends."""

_MOST_WAY = 0.9
"""Share of the way to a pole of the slope that one step of a search may take."""


@dataclass(frozen=True, kw_only=True)
class BoundedMean:
    """The weighted mean of the values of independent samples.

    Attributes:
        values: the values that occur, each in `lowest`..`highest`.
        weights: the weight of a sample with that value; 1 on average.
        counts: the number of samples with that value and weight.
        lowest: lower bound of all possible values.
        highest: upper bound.
        continuity: what is taken off abs(sum of values - n m) before it is compared, because
            the sum moves in steps. 0 for values on a continuous scale.
    """

    values: tuple[float, ...]
    weights: tuple[float, ...]
    counts: tuple[float, ...]
    lowest: float
    highest: float
    continuity: float = 0.0

    @classmethod
    def of(
        cls,
        values: Iterable[float],
        *,
        lowest: float,
        highest: float,
        weights: Iterable[float] | None = None,
        continuity: float = 0.0,
    ) -> Self:
        """Return the mean of one value a sample; there is at least one."""
        listed = list(values)
        pairs = Counter(zip(listed, weights or [1.0] * len(listed), strict=True))
        # Sorted: sums of floats depend on their order.
        ordered = sorted(pairs.items())
        return cls(
            values=tuple(value for (value, _), _ in ordered),
            weights=tuple(weight for (_, weight), _ in ordered),
            counts=tuple(map(float, (count for _, count in ordered))),
            lowest=lowest,
            highest=highest,
            continuity=continuity,
        )

    @classmethod
    def of_differences(cls, counts: Mapping[float, float], *, continuity: float = 0.0) -> Self:
        """Return the mean of differences in -1..1; `counts`: samples, or shares of them, by value.

        Values that no sample has are left out.
        """
        known = {value: count for value, count in sorted(counts.items()) if count > 0}
        return cls(
            values=tuple(known),
            weights=(1.0,) * len(known),
            counts=tuple(map(float, known.values())),
            lowest=-1.0,
            highest=1.0,
            continuity=continuity,
        )

    @cached_property
    def n(self) -> float:
        """The number of samples."""
        return math.fsum(self.counts)

    @cached_property
    def mean(self) -> float:
        """The weighted mean."""
        parts = zip(self.values, self.weights, self.counts, strict=True)
        found = math.fsum(value * weight * count for value, weight, count in parts) / self.n
        return min(max(found, self.lowest), self.highest)

    def z(self, mean: float) -> float:
        """Return Z(mean): above 0 where the values seen lie above `mean`."""
        off = self.n * (self.mean - mean)
        excess = math.copysign(max(abs(off) - self.continuity, 0.0), off)
        if excess == 0 or self._is_mean(mean):
            return 0.0
        variance = self.variance(mean)
        z = excess / math.sqrt(self.n * variance) if variance > 0 else math.inf * excess
        return math.copysign(min(abs(z), self._most_z(mean)), z)

    def p_value(self, mean: float = 0.0) -> float:
        """Return the two-sided p-value of the hypothesis that the true mean is `mean`."""
        return math.erfc(abs(self.z(mean)) / math.sqrt(2))

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return the interval of the true mean."""
        z = critical(confidence)
        return Interval(low=self._end(self.lowest, z), high=self._end(self.highest, -z))

    def samples_to_tell(self, limit: float, confidence: float = CONFIDENCE) -> int | None:
        """Return how many samples like these would put `limit` outside of the interval.

        None if no number does, because the mean seen is the limit itself.
        """
        if self._is_mean(limit):
            return None
        off = abs(self.mean - limit)
        spread = critical(confidence) * math.sqrt(self.variance(limit))
        wanted = samples_for(off, spread, self.continuity)
        share = self._unseen_share(limit)
        if 0 < share < 1:
            exact = math.log((1 - confidence) / 2) / math.log1p(-share)
            wanted = max(wanted, math.ceil(exact * (1 - _TOLERANCE)))
        return wanted

    def variance(self, mean: float) -> float:
        """Return V(mean), the variance of one sample under the likeliest distribution with it."""
        if not self.lowest < mean < self.highest:
            return 0.0
        away, masses = self._values - mean, self._masses
        tilt = self._tilt(away, (self.lowest - mean, self.highest - mean))
        chances = masses / (self.n * (1 + tilt * away))
        unseen = max(0.0, 1 - float(chances.sum()))
        bound = (self.lowest if tilt > 0 else self.highest) - mean
        seen = float((chances * self._weights * away * away).sum())
        return seen + unseen * bound * bound

    def _is_mean(self, value: float) -> bool:
        """Whether a value differs from the mean by rounding alone."""
        return abs(self.mean - value) <= _TOLERANCE * (self.highest - self.lowest)

    def _most_z(self, mean: float) -> float:
        """Return the largest Z that samples that are all alike may have; infinite for others."""
        share = self._unseen_share(mean)
        chance = 0.0 if share >= 1 else math.exp(self.n * math.log1p(-share))
        return _NORMAL.inv_cdf(1 - min(chance, 0.5)) if chance > _TOLERANCE else math.inf

    def _unseen_share(self, mean: float) -> float:
        """Return the share of all samples that must lie at a bound for a true mean of `mean`.

        1 where samples differ: then nothing follows from what none of them shows.
        """
        if len(set(self.values)) > 1:
            return 1.0
        bound = self.highest if mean > self.mean else self.lowest
        return (mean - self.mean) / (bound - self.mean)

    def _tilt(self, away: NDArray[np.float64], bounds: tuple[float, float]) -> float:
        """Return the multiplier t of the restricted likelihood: chances go with 1 / (1 + t x).

        Args:
            away: how far the values lie from the mean asked about: x.
            bounds: how far the two bounds do, the lower one below 0.
        """
        first, last = -1 / bounds[1], -1 / bounds[0]
        farthest = last if (self._masses * away).sum() > 0 else first
        parts = 1 + farthest * away
        if parts.min() > _TOLERANCE and farthest * (self._masses * away / parts).sum() >= 0:
            # Beyond it a bound that nobody saw would have a chance below 0: it gets the rest.
            return farthest
        poles, tilt, width = (first, last), 0.0, last - first
        for _ in range(_STEPS):
            parts = away / (1 + tilt * away)
            slope = float((self._masses * parts).sum())
            first, last = (tilt, last) if slope > 0 else (first, tilt)
            # Newton's step; the slope falls, so its root lies between first and last.
            step = slope / float((self._masses * parts * parts).sum())
            if abs(step) <= _TOLERANCE * width or last - first <= _TOLERANCE * width:
                break
            # Beside a pole Newton's step is as small as the distance to it, however far the root
            # is, and would end the search. So a step stops short of the pole.
            pole = poles[0] if step < 0 else poles[1]
            ahead = tilt + math.copysign(min(abs(step), _MOST_WAY * abs(pole - tilt)), step)
            tilt = ahead if first < ahead < last else (first + last) / 2
        return tilt

    def _end(self, bound: float, z: float) -> float:
        """Return the end of the interval towards `bound`, where Z is `z`."""
        if self.mean == bound:
            return bound
        start = self.mean
        # An end that is as near to 0 as can be still lies on the side that the test of 0 says.
        if min(bound, start) < 0 < max(bound, start):
            beyond = abs(self.z(0.0)) > abs(z)
            bound, start = (0.0, start) if beyond else (bound, 0.0)
        low, high = sorted((bound, start))
        return falling_root(lambda mean: self.z(mean) - z, low, high)

    @cached_property
    def _values(self) -> NDArray[np.float64]:
        return _array(self.values)

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        return _array(self.weights)

    @cached_property
    def _masses(self) -> NDArray[np.float64]:
        return _array([w * c for w, c in zip(self.weights, self.counts, strict=True)])


def _array(numbers: Sequence[float]) -> NDArray[np.float64]:
    import numpy as np  # noqa: PLC0415 - 0.1 s, and many runs need no array

    return np.array(numbers)


def critical(confidence: float) -> float:
    """Return z: the quantile of the normal distribution for a two-sided level."""
    return _NORMAL.inv_cdf((1 + confidence) / 2)


def samples_for(off: float, spread: float, continuity: float = 0.0) -> int:
    """Return the smallest n with ``n * off - continuity >= spread * sqrt(n)``."""
    root = (spread + math.sqrt(spread * spread + 4 * off * continuity)) / (2 * off)
    return max(1, math.ceil(root * root * (1 - _TOLERANCE)))


def falling_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function crosses 0 between `low` and `high`.

    False position (Illinois), with a bisection at every third step and while an end is infinite.
    """
    above, below = math.inf, -math.inf
    width, side = _TOLERANCE * (high - low), 0
    for step in range(_STEPS):
        if high - low <= width:
            break
        middle = (low + high) / 2
        if step % 3 and math.isfinite(above) and math.isfinite(below):
            middle = low + (high - low) * above / (above - below)
        value = function(middle)
        if value == 0:
            return middle
        if value > 0:
            low, above = middle, value
            below = below / 2 if side > 0 else below
            side = 1
        else:
            high, below = middle, value
            above = above / 2 if side < 0 else above
            side = -1
    return (low + high) / 2
