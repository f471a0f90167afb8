"""How metrics changed between two runs, over the same samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum

from pytest_llmeval.records import Row
from pytest_llmeval.results.bounded_mean import BoundedMean
from pytest_llmeval.results.paired import paired_difference
from pytest_llmeval.results.statistics import Interval


@dataclass(frozen=True, kw_only=True)
class Change:
    """A metric in two runs over the same `n` samples, in 0..`scale`.

    Attributes:
        a: its mean in run a.
        b: its mean in run b.
        low: lower end of the interval of the difference b - a.
        high: upper end.
        p_value: two-sided; below 1 - confidence if and only if the interval leaves 0 out.
        effect: Cohen's d_z, the difference in units of its standard deviation over the samples.
        smallest: smallest difference that so many samples would show in four of five repetitions.
        samples: the differences of the samples.
        confidence: level of the interval.
        adjusted: the p-value after Holm, for all changes of the comparison together.
        together: the number of those changes.

    None: undefined.
    """

    name: str
    scale: float
    n: int
    a: float
    b: float
    low: float
    high: float
    p_value: float
    effect: float | None
    smallest: float | None
    samples: BoundedMean
    confidence: float
    adjusted: float | None = None
    together: int = 1

    @property
    def difference(self) -> float:
        """B - a."""
        return self.b - self.a

    @property
    def interval(self) -> Interval:
        """The interval of the difference by itself."""
        return Interval(low=self.low, high=self.high)

    @property
    def differs(self) -> bool:
        """Whether the difference is significant by itself: its interval leaves 0 out."""
        return self.p_value < 1 - self.confidence

    @property
    def differs_among_all(self) -> bool:
        """Whether it is after Holm too: the adjusted interval leaves 0 out."""
        return self.adjusted is not None and self.adjusted < 1 - self.confidence

    @cached_property
    def adjusted_interval(self) -> Interval | None:
        """The interval that belongs to the p-value after Holm; None where that is not known.

        Holm multiplies a p-value by k, which is p (Holm) / p; this is the interval of the same
        samples at the level 1 - (1 - confidence) / k. So it leaves 0 out if and only if p (Holm) is
        below 1 - confidence. It is never narrower than the one at `confidence`.
        """
        if self.adjusted is None:
            return None
        # A p-value too small for a float is among the smallest, and those are multiplied most.
        share = self.p_value / self.adjusted if self.p_value > 0 else 1 / self.together
        return self.samples.interval(1 - (1 - self.confidence) * share)


def changes_of(
    paired: Sequence[tuple[list[Row], list[Row]]], confidence: float
) -> tuple[Change, ...]:
    """Return the change of accuracy, and of each score that both rows of some sample have.

    Args:
        paired: for each sample its scored rows in run a and in run b.
        confidence: level of the intervals.

    A score whose values are 1 for correct and 0 for incorrect in all rows would repeat the
    change of accuracy, and is left out.
    """
    if not paired:
        return ()
    outcomes = [(_outcomes(a), _outcomes(b)) for a, b in paired]
    changes = [_change("accuracy", 1.0, outcomes, confidence)]
    for name, scale in dict.fromkeys(
        (s.name, s.scale) for a, _ in paired for row in a for s in row.scores
    ):
        values = [(_values(a, name, scale), _values(b, name, scale)) for a, b in paired]
        known = [(of_a, of_b) for of_a, of_b in values if of_a and of_b]
        if known and values != outcomes:
            changes.append(_change(name, scale, known, confidence))
    return tuple(changes)


def _outcomes(rows: Sequence[Row]) -> list[float]:
    return [float(row.outcome == "correct") for row in rows]


def _values(rows: Sequence[Row], name: str, scale: float) -> list[float]:
    """Return the last score of that name and scale of each row that has one."""
    values = []
    for row in rows:
        for score in reversed(row.scores):
            if score.name == name and score.scale == scale:
                if score.value is not None:
                    values.append(score.value)
                break
    return values


def _change(
    name: str, scale: float, pairs: Sequence[tuple[list[float], list[float]]], confidence: float
) -> Change:
    found = paired_difference(pairs, scale=scale, confidence=confidence)
    interval = found.mean.interval(confidence)
    return Change(
        name=name,
        scale=scale,
        n=len(pairs),
        a=fsum(fsum(a) / len(a) for a, _ in pairs) / len(pairs),
        b=fsum(fsum(b) / len(b) for _, b in pairs) / len(pairs),
        low=interval.low,
        high=interval.high,
        p_value=found.mean.p_value(),
        effect=found.effect,
        smallest=found.smallest,
        samples=found.mean,
        confidence=confidence,
    )
