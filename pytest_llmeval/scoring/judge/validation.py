"""Reliability of a judge: its verdicts against labels, and its votes against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_llmeval.records import Record
from pytest_llmeval.scoring.judge.agreement import FEWEST_RATERS, cohen_kappa, fleiss_kappa


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCase:
    """A labelled case with the judge's verdict.

    Attributes:
        kind: name of the group that the case belongs to, such as ``rounding`` or ``injection``.
        label: whether the answer is correct according to a human reader.
        verdict: the judge's decision; None if it gave none (unscored).
        votes: the single verdicts behind it; None for a vote lost to unusable replies.
    """

    kind: str
    label: bool
    verdict: bool | None
    votes: tuple[bool | None, ...] = ()


class CaseAgreement(Record, frozen=True, kw_only=True):
    """Agreement of a judge with the labels of `n` cases.

    Rates are shares in 0..1, None without a case to compute them from.

    Attributes:
        n: number of cases.
        unscored: cases without a verdict; no rate counts them.
        accuracy: share of cases with the label's verdict.
        false_positives: wrong answers judged correct.
        false_negatives: right answers judged incorrect.
        false_positive_rate: `false_positives` among the wrong answers.
        false_negative_rate: `false_negatives` among the right answers.
        cohen: Cohen's kappa of verdict and label; None where all cases have one label: there is no
            agreement beyond chance to speak of.
        fleiss: Fleiss' kappa of the votes; None unless all cases have the same number of votes, at
            least two.
    """

    n: int
    unscored: int
    accuracy: float | None
    false_positives: int
    false_negatives: int
    false_positive_rate: float | None
    false_negative_rate: float | None
    cohen: float | None
    fleiss: float | None


def case_agreement(cases: Sequence[JudgedCase]) -> CaseAgreement:
    """Return the agreement of the judge's verdicts with the labels of `cases`."""
    pairs = [(case.label, case.verdict) for case in cases if case.verdict is not None]
    false_positives = pairs.count((False, True))
    false_negatives = pairs.count((True, False))
    right = sum(label for label, _ in pairs)
    return CaseAgreement(
        n=len(cases),
        unscored=len(cases) - len(pairs),
        accuracy=_share(len(pairs) - false_positives - false_negatives, len(pairs)),
        false_positives=false_positives,
        false_negatives=false_negatives,
        false_positive_rate=_share(false_positives, len(pairs) - right),
        false_negative_rate=_share(false_negatives, right),
        cohen=cohen_kappa(pairs) if 0 < right < len(pairs) else None,
        fleiss=fleiss_kappa(_vote_counts(cases)),
    )


def _vote_counts(cases: Sequence[JudgedCase]) -> list[tuple[int, int]]:
    """Return the (correct, incorrect) votes of each case without a lost vote.

    The list is empty when cases differ in their number of votes. Voting then stopped early, at an
    agreement; counting those cases would overrepresent disagreement.
    """
    numbers = {len(case.votes) for case in cases}
    if len(numbers) != 1 or min(numbers) < FEWEST_RATERS:
        return []
    complete = [case.votes for case in cases if None not in case.votes]
    return [(votes.count(True), votes.count(False)) for votes in complete]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
