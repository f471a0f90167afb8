"""The scale ``[low, high]``: ratings in whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import ClassVar, Final

from msgspec.structs import replace

from pytest_llmeval.records import Json, Verdict
from pytest_llmeval.scoring.judge.reply import ONE_OBJECT, REASON, SENTENCE, decisions, whole_number

MOST_STEPS: Final = 100
"""Ratings of a scale; finer ones no judge tells apart."""

_KEY: Final = "rating"

_ROUNDING: Final = 1e-9
"""By so much a mean may lie below `minimum`: three thirds are one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingScale:
    """``{"reason": "...", "rating": a whole number from low to high}``; several have a mean.

    The reason comes first, so that a judge that does not think beforehand gives it before it rates.

    Attributes:
        low: the worst rating, 0 or more.
        high: the best one.
        minimum: the least mean that is correct.
    """

    low: int
    high: int
    minimum: float
    kind: ClassVar[str] = "rating"
    criteria: ClassVar[tuple[str, ...]] = ()
    labels: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for a scale on which nobody could rate, or nothing would be decided."""
        if not 0 <= self.low < self.high <= self.low + MOST_STEPS:
            msg = (
                f"scale is [{self.low}, {self.high}]; write the worst and the best rating, from 0 "
                f"on and at most {MOST_STEPS} apart, such as [1, 10]"
            )
            raise ValueError(msg)
        if not self.low <= self.minimum <= self.high:
            msg = f"minimum is {self.minimum:g}; it must lie in the scale [{self.low}, {self.high}]"
            raise ValueError(msg)

    @property
    def lowest(self) -> float:
        """The worst rating."""
        return float(self.low)

    @property
    def highest(self) -> float:
        """The best rating."""
        return float(self.high)

    @property
    def schema(self) -> dict[str, Json]:
        """The JSON schema of a rating."""
        return {"type": "integer", "enum": [*range(self.low, self.high + 1)]}

    @property
    def words(self) -> str:
        """A rating in words."""
        return f"a whole number from {self.low} to {self.high}"

    @property
    def each(self) -> str:
        """What is said of several ratings."""
        return f"is rated by itself, {self.low} for the worst and {self.high} for the best"

    @property
    def properties(self) -> dict[str, Json]:
        """The JSON schema of the reply's keys."""
        return {REASON: {"type": "string"}, _KEY: self.schema}

    @property
    def options(self) -> dict[str, Json]:
        """The options of a task that give this scale."""
        return {"scale": [self.low, self.high], **self.deciding}

    @property
    def deciding(self) -> dict[str, Json]:
        """The least correct rating, which the judge is not told."""
        return {"minimum": self.minimum}

    def form(self, passes: str) -> str:  # noqa: ARG002 - the port's
        """Return the paragraph that tells the judge what to reply."""
        return (
            f'{ONE_OBJECT}{{{SENTENCE}, "{_KEY}": {self.words}}}\n'
            f"{_KEY} is {self.low} for the worst and {self.high} for the best."
        )

    def number(self, value: Json) -> int | None:
        """Return a rating; None for anything else."""
        return whole_number(value, self.low, self.high)

    def is_correct(self, values: Sequence[float]) -> bool:
        """Whether the mean of some ratings is correct."""
        return mean(values) >= self.minimum - _ROUNDING

    def read(self, reply: str) -> Verdict | None:
        """Return the verdict that a reply consists of; None if it is unusable."""
        found = decisions(reply, (_KEY,))
        if found is None or (rating := self.number(found[0][_KEY])) is None:
            return None
        return Verdict(correct=self.is_correct([rating]), value=float(rating), reason=found[1])

    def combined(self, verdicts: Sequence[Verdict | None]) -> Verdict | None:
        """Return the mean of the usable ratings, with the reason of the one that is nearest."""
        given = [(one.value, one) for one in verdicts if one and one.value is not None]
        if not given:
            return None
        value = mean([rating for rating, _ in given])
        _, nearest = min(given, key=lambda one: abs(one[0] - value))
        return replace(nearest, correct=self.is_correct([value]), value=value)

    def is_settled(self, verdicts: Sequence[Verdict | None], left: int) -> bool:  # noqa: ARG002 - the port's
        """Every rating counts."""
        return left == 0

    def shortfall(self, value: float | None, label: str | None) -> str:  # noqa: ARG002 - the port's
        """Return what a verdict that is not correct says."""
        return f"rated {0 if value is None else value:.3g}, and {self.minimum:g} is the least"


def mean(values: Sequence[float]) -> float:
    """Return the mean of at least one value."""
    return fsum(values) / len(values)
