"""A mean and its interval on an axis, and as text. Positions are in per cent of the axis."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_llmeval.report import numbers
from pytest_llmeval.results.figures import Mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Whisker:
    """A value and its interval on an axis, in per cent of its length; `low` None: no interval."""

    at: float
    low: float | None = None
    high: float | None = None

    @property
    def width(self) -> float:
        """How long the interval is."""
        return 0.0 if self.low is None or self.high is None else self.high - self.low


def whisker(mean: Mean) -> Whisker | None:
    """Return where a mean and its interval stand on an axis from 0 to its scale."""
    if mean.value is None:
        return None
    low, high = (None if end is None else 100 * end / mean.scale for end in (mean.low, mean.high))
    return Whisker(at=100 * mean.value / mean.scale, low=low, high=high)


def scale_ticks(scale: float) -> tuple[str, ...]:
    """Return labels at 0, 25, 50, 75 and 100 per cent of an axis; those of a scale of 1 in it."""
    if scale == 1:
        return "0", "25", "50", "75", "100 %"
    return tuple(f"{scale * part / 4:.3g}" for part in range(5))


def value_text(mean: Mean) -> str:
    """Return a mean as text: in per cent on a scale of 1, others in their scale."""
    return numbers.percent(mean.value) if mean.scale == 1 else numbers.score(mean.value, mean.scale)


def interval_text(mean: Mean) -> str:
    """Return a mean's interval as text."""
    if mean.low is None or mean.high is None:
        return numbers.NONE
    factor = 100 if mean.scale == 1 else 1
    return numbers.interval(factor * mean.low, factor * mean.high, factor * mean.scale)
