"""Accuracy from the outcomes of all answers and human labels of some of them, drawn at random.

Prediction-powered inference (Angelopoulos et al. 2023) takes the outcomes as predictions of the
labels, and measures their error on the labelled answers. With the weight that makes its variance
least (PPI++, 2023) the estimate for predictions of 0 and 1 is

    q a + (1 - q) b

for a share q of all answers that was scored correct, a share a of the labelled answers among these
that is correct, and a share b of the labelled others (so Tenenbein 1970 from double sampling).

Its interval is a Wald interval after one correct and one incorrect answer were added to each of the
three shares (Price and Bonett 2004), because the usual one fails where the labelled answers show no
error: then its width is 0. Where a sample has several epochs, the numbers are effective ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from pytest_llmeval.results.bounded_mean import critical
from pytest_llmeval.results.estimate import Estimate
from pytest_llmeval.results.statistics import CONFIDENCE, effective_trials

FEWEST: Final = 20
"""Labelled answers at least: with fewer the interval does not hold its level."""


class Labelled(NamedTuple):
    """An answer that was scored `scored` and labelled `label`; True is correct."""

    scored: bool
    label: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Share:
    """A share of `trials`, which need not be whole."""

    value: float
    trials: float

    @classmethod
    def adjusted(cls, count: float, trials: float) -> Self:
        """Return the share after one success and one failure more."""
        return cls(value=(count + 1) / (trials + 2), trials=trials + 2)

    @property
    def variance(self) -> float:
        return self.value * (1 - self.value) / self.trials


def prediction_powered(
    scored: Sequence[Sequence[bool]], labelled: Mapping[str, Sequence[Labelled]]
) -> Estimate:
    """Return the accuracy by outcomes and labels, with its 95 % interval; 0..1.

    Args:
        scored: the outcomes of all scored answers of each sample, one an epoch; True is correct.
        labelled: by sample those of its answers that were drawn and labelled; `FEWEST` or more in
            all.
    """
    answers = [answer for sample in labelled.values() for answer in sample]
    outcomes = [outcome for sample in scored for outcome in sample]
    share = sum(outcomes) / len(outcomes)
    of_correct = [answer.label for answer in answers if answer.scored]
    of_incorrect = [answer.label for answer in answers if not answer.scored]
    if of_correct and of_incorrect:
        right, missed = _mean(of_correct), _mean(of_incorrect)
        value = share * right + (1 - share) * missed
    else:  # the outcomes of the labelled answers say nothing about their labels
        value = right = missed = _mean([answer.label for answer in answers])
    trials = effective_trials([[float(outcome) for outcome in sample] for sample in scored])
    thinned = _effective(labelled, right, missed) / len(answers)
    low, high = _interval(
        _Share.adjusted(share * trials, trials),
        _Share.adjusted(sum(of_correct) * thinned, len(of_correct) * thinned),
        _Share.adjusted(sum(of_incorrect) * thinned, len(of_incorrect) * thinned),
    )
    return Estimate(value=value, n=len(outcomes), low=low, high=high)


def _interval(share: _Share, right: _Share, missed: _Share) -> tuple[float, float]:
    centre = share.value * right.value + (1 - share.value) * missed.value
    variance = (
        share.variance * (right.value - missed.value) ** 2
        + share.value**2 * right.variance
        + (1 - share.value) ** 2 * missed.variance
    )
    half = critical(CONFIDENCE) * math.sqrt(variance)
    return max(0.0, centre - half), min(1.0, centre + half)


def _effective(labelled: Mapping[str, Sequence[Labelled]], right: float, missed: float) -> float:
    """Return how many independent answers the labelled ones are worth; epochs are not."""
    errors = [
        [answer.label - (right if answer.scored else missed) for answer in sample]
        for sample in labelled.values()
    ]
    return effective_trials(errors)


def _mean(values: Sequence[bool]) -> float:
    return sum(values) / len(values)
