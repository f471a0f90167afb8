"""How far a judge can be trusted: its verdicts against labels, and its votes against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_llmeval.records import Json
from pytest_llmeval.scoring.judge.agreement import cohen_kappa, fleiss_kappa


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCase:
    """One labelled case and what the judge made of it.

    `kind` groups cases (such as ``rounding`` or ``injection``); `label` is whether the answer is
    equivalent by human reading; `verdict` None means unscored; `votes` are the single verdicts
    behind it, None for a lost vote.
    """

    kind: str
    label: bool
    verdict: bool | None
    votes: tuple[bool | None, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Agreement of a judge with the labels of `n` cases.

    Rates lie in 0..1 and are None without a case to take them from. `accuracy` is over the scored
    cases; `false_positive_rate` is the share of scored wrong answers that the judge let pass,
    `false_negative_rate` the share of scored right answers that it refused. `cohen` is judge
    against label, `fleiss` vote against vote (None unless every case got the same number of votes,
    at least two).
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

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def calibrate(cases: Sequence[JudgedCase]) -> Calibration:
    """Return how well the judge agrees with the labels of `cases`."""
    pairs = [(case.label, case.verdict) for case in cases if case.verdict is not None]
    false_positives = pairs.count((False, True))
    false_negatives = pairs.count((True, False))
    right = sum(label for label, _ in pairs)
    return Calibration(
        n=len(cases),
        unscored=len(cases) - len(pairs),
        accuracy=_share(len(pairs) - false_positives - false_negatives, len(pairs)),
        false_positives=false_positives,
        false_negatives=false_negatives,
        false_positive_rate=_share(false_positives, len(pairs) - right),
        false_negative_rate=_share(false_negatives, right),
        cohen=cohen_kappa(pairs),
        fleiss=fleiss_kappa(_vote_counts(cases)),
    )


def calibrate_by_kind(cases: Sequence[JudgedCase]) -> dict[str, Calibration]:
    """Return the calibration of each kind of case, kinds in alphabetical order."""
    kinds = sorted({case.kind for case in cases})
    return {kind: calibrate([case for case in cases if case.kind == kind]) for kind in kinds}


def _vote_counts(cases: Sequence[JudgedCase]) -> list[tuple[int, int]]:
    """Return (equivalent, different) counts of the cases without a lost vote.

    None at all when the cases differ in votes: such votes were stopped early, and where voting goes
    on only after a disagreement, the cases with most votes would be the ones disagreed about.
    """
    if len({len(case.votes) for case in cases}) != 1 or len(cases[0].votes) < 2:  # noqa: PLR2004 - see fleiss_kappa
        return []
    complete = [case.votes for case in cases if None not in case.votes]
    return [(votes.count(True), votes.count(False)) for votes in complete]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
