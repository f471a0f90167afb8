"""A figure with what is known of its uncertainty, as a rule sees it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_llmeval.results.bounded_mean import critical, samples_for
from pytest_llmeval.results.figures import Mean
from pytest_llmeval.results.statistics import CONFIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A figure over `n` samples or cases; its 95 % interval, None where it has none.

    Counts, sums and times have no interval: they are what they are.
    """

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, mean: Mean) -> Estimate:
        """Return a mean, with its interval."""
        return cls(value=mean.value, n=mean.n, low=mean.low, high=mean.high)

    def samples_to_tell(self, limit: float) -> int | None:
        """Return about how many samples would put `limit` outside of the interval; None: none.

        The figure's values are no longer known, so the variance at `limit` is taken from the
        variances at the ends of the interval, by the parabola that is exact for shares.
        """
        if self.value is None or self.low is None or self.high is None or limit == self.value:
            return None
        z = critical(CONFIDENCE)
        at_low, at_high = (self.n * ((self.value - end) / z) ** 2 for end in (self.low, self.high))
        place = (limit - self.low) / (self.high - self.low)
        chord = at_low + place * (at_high - at_low)
        variance = chord + (limit - self.low) * (self.high - limit)
        return samples_for(abs(self.value - limit), z * math.sqrt(max(variance, 0.0)))
