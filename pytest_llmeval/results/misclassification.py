"""Accuracy corrected for the errors of a judge that were measured on other, labelled answers.

A judge with sensitivity s and specificity t finds a share ``s p + (1 - t) (1 - p)`` of answers
correct of which p are, so ``p = (share + t - 1) / (s + t - 1)`` (Rogan and Gladen 1978). Answers
that no judge decided enter as they are.

The interval asks of each m whether it may be the true accuracy, by

    Z(m) = (estimate - m) / sqrt(V(m) / n + W(m))

and holds every m with abs(Z(m)) <= 1.96. V(m) is the variance of one sample's value under the
likeliest distribution with mean m (`bounded_mean`); epochs of a sample are one value. W(m) is the
variance that s and t bring from n1 correct and n0 incorrect labelled answers, where the judged
answers, a share j of all, hold a share r of correct ones:

    W(m) = (r^2 s (1 - s) / n1 + (j - r)^2 t (1 - t) / n0) / (s + t - 1)^2

s and t are taken with one right and one wrong verdict more for each label, as Lang and Reiczigel
(2014) do. With a perfect judge, and labels without end, it is Wilson's interval of the accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from pytest_llmeval.results.bounded_mean import BoundedMean, critical, falling_root
from pytest_llmeval.results.confusion import Confusion, Rates
from pytest_llmeval.results.estimate import Estimate
from pytest_llmeval.results.statistics import CONFIDENCE


class Decided(NamedTuple):
    """How one answer was decided: whether as correct, and whether by the judge."""

    correct: bool
    judged: bool


Samples: TypeAlias = Sequence[Sequence[Decided]]
"""The answers of each sample, one an epoch; no sample is empty."""


def rogan_gladen(samples: Samples, found: Confusion) -> Estimate | None:
    """Return the corrected accuracy of one sample or more, with its 95 % interval; 0..1.

    Args:
        samples: how the answers were decided.
        found: the judge's verdicts on labelled answers; they are fit (`Confusion.unfit` is "").

    Returns:
        The estimate. None if no accuracy in 0..1 goes with the verdicts: the judge found fewer
        answers correct than its false positive rate says of incorrect ones alone, or more than its
        sensitivity says of correct ones. Then the labelled answers are not of the run's kind.
    """
    answers = [answer for sample in samples for answer in sample]
    sure = sum(answer.correct for answer in answers if not answer.judged)
    verdicts = [answer.correct for answer in answers if answer.judged]
    share = Rates.seen(found).estimate(sum(verdicts) / len(verdicts)) if verdicts else 0.0
    value = (sure + len(verdicts) * min(max(share, 0.0), 1.0)) / len(answers)
    corrected = _Corrected(samples, Rates.adjusted(found))
    if corrected.refuted:
        return None
    low, high = corrected.interval()
    # Of a sample or two the interval may miss the estimate, which is kept within 0..1 otherwise.
    return Estimate(value=value, n=len(answers), low=min(low, value), high=max(high, value))


@dataclass(frozen=True)
class _Corrected:
    """The accuracy of samples under the rates of their judge."""

    samples: Samples
    rates: Rates

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """Return the least and the greatest accuracy with abs(Z) <= z, or the end of 0..1."""
        z = critical(confidence)
        centre = min(max(self._run.mean, 0.0), 1.0)
        low = high = centre
        if centre > 0:
            low = 0.0 if self._z(0.0) <= z else falling_root(lambda m: self._z(m) - z, 0.0, centre)
        if centre < 1:
            at_end = self._z(1.0) >= -z
            high = 1.0 if at_end else falling_root(lambda m: self._z(m) + z, centre, 1.0)
        return low, high

    @property
    def refuted(self) -> bool:
        """Whether the mean lies outside of 0..1 by more than chance."""
        z = critical(CONFIDENCE)
        return self._z(0.0) < -z or self._z(1.0) > z

    def _z(self, mean: float) -> float:
        variance = self._run.variance(mean) / self._run.n + self._of_rates(mean)
        off = self._run.mean - mean
        if off == 0:
            return 0.0
        return off / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, off)

    def _of_rates(self, mean: float) -> float:
        """Return W(mean)."""
        rates = self.rates
        correct = min(max(mean - self._sure, 0.0), self._judged)
        of_correct = rates.sensitivity * (1 - rates.sensitivity) / rates.correct
        of_incorrect = rates.specificity * (1 - rates.specificity) / rates.incorrect
        parts = correct**2 * of_correct + (self._judged - correct) ** 2 * of_incorrect
        return parts / rates.youden**2

    @cached_property
    def _run(self) -> BoundedMean:
        values = [
            math.fsum(
                self.rates.estimate(answer.correct) if answer.judged else answer.correct
                for answer in sample
            )
            / len(sample)
            for sample in self.samples
        ]
        size = self._n / len(self.samples)
        ends = [self.rates.estimate(verdict) for verdict in (0, 1)] if self._judged else [0, 1]
        return BoundedMean.of(
            values,
            weights=[len(sample) / size for sample in self.samples],
            lowest=ends[0],
            highest=ends[1],
        )

    @cached_property
    def _n(self) -> int:
        return sum(map(len, self.samples))

    @cached_property
    def _judged(self) -> float:
        """The share of answers that the judge decided."""
        return sum(answer.judged for sample in self.samples for answer in sample) / self._n

    @cached_property
    def _sure(self) -> float:
        """The share of answers that are correct, and not by the judge."""
        correct = (
            answer.correct and not answer.judged for sample in self.samples for answer in sample
        )
        return sum(correct) / self._n
