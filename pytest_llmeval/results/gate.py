"""A gate: rules that a run must meet."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from pytest_llmeval.records import Record
from pytest_llmeval.results.allowed import Allowed

JUDGE = "judge"
"""Stands for a task in rules about the judge (``judge.kappa``), unless a task has that name."""


ACCURACY_CORRECTED = "accuracy_corrected"
"""The metric that is corrected for errors of the scorer."""


class Step(Record, frozen=True, kw_only=True):
    """How far a value may move: in the metric's own scale, or as a share of the baseline's."""

    amount: float
    relative: bool = False

    def __str__(self) -> str:
        """Return ``0.03`` or ``10 %``."""
        return f"{100 * self.amount:g} %" if self.relative else f"{self.amount:g}"

    def from_baseline(self, baseline: float) -> float:
        """Return the step in the metric's scale, given the baseline's value."""
        return self.amount * abs(baseline) if self.relative else self.amount


class Bounds(Record, frozen=True, kw_only=True):
    """What a rule allows; an end that is None is open.

    Attributes:
        minimum: lowest value, in the metric's own scale.
        maximum: highest value.
        max_drop: how far the value may fall below the baseline's.
        max_rise: how far it may rise above it.
    """

    minimum: float | None = None
    maximum: float | None = None
    max_drop: Step | None = None
    max_rise: Step | None = None

    def __str__(self) -> str:
        """Return ``min 0.5``, ``max_drop 10 %``, or several of them."""
        ends = {"min": self.minimum, "max": self.maximum}
        steps = {"max_drop": self.max_drop, "max_rise": self.max_rise}
        parts = [f"{name} {value:g}" for name, value in ends.items() if value is not None]
        parts += [f"{name} {step}" for name, step in steps.items() if step is not None]
        return ", ".join(parts)

    @property
    def values(self) -> Allowed:
        """The values between `minimum` and `maximum`."""
        return Allowed(
            -inf if self.minimum is None else self.minimum,
            inf if self.maximum is None else self.maximum,
        )

    def changes(self, before: float) -> Allowed:
        """Return the changes that `max_drop` and `max_rise` allow from the baseline's value."""
        return Allowed(
            -inf if self.max_drop is None else -self.max_drop.from_baseline(before),
            inf if self.max_rise is None else self.max_rise.from_baseline(before),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Bounds on one metric of one task.

    Each model that ran it must meet them, with `samples` scored samples or more. `point`: the
    figure itself decides, not its interval.
    """

    task: str
    metric: str
    bounds: Bounds
    samples: int = 0
    point: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRule:
    """How far one metric of one task may move away from the baseline's, for each of its models.

    `samples` and `point` as in `Rule`.
    """

    task: str
    metric: str
    bounds: Bounds
    samples: int = 0
    point: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A gate file.

    By default it demands full coverage, and answers of live models of this run with the tools that
    its tasks are made for.

    Attributes:
        rules: bounds on the run's own figures.
        changes: bounds on their difference from the baseline's.
        coverage: smallest share of the planned samples that must be scored.
        compared: smallest share of the baseline's scored samples that must be scored again.
        significance: level at which changes are tested.
        inconclusive_passes: whether a rule passes that so few samples cannot decide.
        recorded_allowed: whether answers may come from recordings.
        cached_allowed: whether answers may come from other runs.
        stand_in_allowed: whether another engine than the one that a task is made for may answer
            its tools.
    """

    rules: tuple[Rule, ...] = ()
    changes: tuple[ChangeRule, ...] = ()
    coverage: float = 1.0
    compared: float = 1.0
    significance: float = 0.05
    inconclusive_passes: bool = False
    recorded_allowed: bool = False
    cached_allowed: bool = False
    stand_in_allowed: bool = False
