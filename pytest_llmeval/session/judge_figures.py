"""Figures of a judge on labelled cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from pytest_llmeval.records import Record
from pytest_llmeval.results.confusion import Confusion
from pytest_llmeval.results.statistics import wilson
from pytest_llmeval.scoring.judge import JudgedCase, case_agreement
from pytest_llmeval.scoring.judge.agreement import beyond_chance, chance_agreement

DIGITS: Final = 4
"""Decimals that are stored: further ones would be noise in a diff."""

Interval: TypeAlias = tuple[float | None, float | None]
"""The 95 % interval of a figure; of None where the figure is undefined."""

_UNKNOWN: Final[Interval] = (None, None)


class JudgeFigures(Record, frozen=True, kw_only=True):
    """Agreement of a judge with the labels of `n` cases, as it is stored.

    Fields with a default are for readers; runs and gates use the others. Rates and kappas are
    rounded, and None without a case to compute them from. Rates have Wilson's
    interval. Kappa has that of the observed agreement, with the agreement by chance held fixed as
    in Cohen (1960), so that a judge that never disagreed has an interval too.

    Attributes:
        n: number of cases.
        unscored: cases without a verdict; no rate counts them.
        accuracy: share of cases with the label's verdict.
        false_positives: wrong answers judged correct.
        false_positive_rate: `false_positives` among the wrong answers.
        false_negatives: right answers judged incorrect.
        false_negative_rate: `false_negatives` among the right answers.
        confusion: the verdicts by label.
        kappa: Cohen's kappa of verdict and label.
        votes_kappa: Fleiss' kappa of the votes.
    """

    n: int
    unscored: int
    accuracy: float | None
    accuracy_95: Interval = _UNKNOWN
    false_positives: int
    false_positive_rate: float | None
    false_positive_rate_95: Interval = _UNKNOWN
    false_negatives: int = 0
    false_negative_rate: float | None = None
    false_negative_rate_95: Interval = _UNKNOWN
    confusion: Confusion
    kappa: float | None
    kappa_95: Interval
    votes_kappa: float | None = None


def figures(cases: Sequence[JudgedCase]) -> JudgeFigures:
    """Return the figures of a judge that judged `cases`."""
    found = case_agreement(cases)
    pairs = [(case.label, case.verdict) for case in cases if case.verdict is not None]
    right = sum(label for label, _ in pairs)
    return JudgeFigures(
        n=found.n,
        unscored=found.unscored,
        accuracy=_rounded(found.accuracy),
        accuracy_95=_wilson(found.accuracy, len(pairs)),
        false_positives=found.false_positives,
        false_positive_rate=_rounded(found.false_positive_rate),
        false_positive_rate_95=_wilson(found.false_positive_rate, len(pairs) - right),
        false_negatives=found.false_negatives,
        false_negative_rate=_rounded(found.false_negative_rate),
        false_negative_rate_95=_wilson(found.false_negative_rate, right),
        confusion=Confusion(
            true_positives=right - found.false_negatives,
            false_negatives=found.false_negatives,
            true_negatives=len(pairs) - right - found.false_positives,
            false_positives=found.false_positives,
        ),
        kappa=_rounded(found.cohen),
        kappa_95=_kappa_interval(pairs, found.accuracy, found.cohen),
        votes_kappa=_rounded(found.fleiss),
    )


def figures_by_kind(cases: Sequence[JudgedCase]) -> dict[str, JudgeFigures]:
    """Return the figures of each kind of case, kinds in alphabetical order."""
    kinds = sorted({case.kind for case in cases})
    return {kind: figures([case for case in cases if case.kind == kind]) for kind in kinds}


def _wilson(rate: float | None, n: int) -> Interval:
    if rate is None:
        return None, None
    found = wilson(rate, n)
    return _rounded(found.low), _rounded(found.high)


def _kappa_interval(
    pairs: Sequence[tuple[bool, bool]], accuracy: float | None, kappa: float | None
) -> Interval:
    if accuracy is None or kappa is None:
        return None, None
    chance, agreement = chance_agreement(pairs), wilson(accuracy, len(pairs))
    low, high = (beyond_chance(end, chance) for end in (agreement.low, agreement.high))
    return _kappa(low), _kappa(high)


def _kappa(value: float | None) -> float | None:
    # An agreement far below that by chance may lead below -1, the lowest kappa.
    return None if value is None else _rounded(max(-1.0, value))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
