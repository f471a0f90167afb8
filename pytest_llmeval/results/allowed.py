"""The values that a rule allows, and what an interval says about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

Decision = Literal["pass", "fail", "inconclusive"]


class Allowed(NamedTuple):
    """The allowed values, both ends included; an open end is infinite."""

    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        """Whether a value is allowed."""
        return isinstance(value, int | float) and self.low <= value <= self.high

    def decision(self, low: float, high: float) -> Decision:
        """Return what the interval `low`..`high` says: all of it is allowed, none, or a part."""
        if low in self and high in self:
            return "pass"
        return "fail" if high < self.low or low > self.high else "inconclusive"

    def samples(
        self, value: float, low: float, high: float, needed: Callable[[float], int | None]
    ) -> int | None:
        """Return how many samples would decide where the interval of `value` does not.

        Args:
            value: what was seen.
            low: lower end of its interval.
            high: upper end.
            needed: the samples that leave a limit out of the interval, as they were seen; None if
                no number does.
        """
        inside = [limit for limit in self if low <= limit <= high]
        broken = [limit for limit in inside if not self._kept(limit, value)]
        counts = [needed(limit) for limit in broken or inside]
        known = [count for count in counts if count is not None]
        return max(known) if known and len(known) == len(counts) else None

    def _kept(self, limit: float, value: float) -> bool:
        return value >= limit if limit == self.low else value <= limit


def more_text(samples: int | None) -> str:
    """Return which number of samples would decide."""
    if samples is None:
        return (
            "no number of samples would, for it lies on the bound itself "
            "(point: true compares the figure alone)"
        )
    return f"about {samples:,} like these would"
