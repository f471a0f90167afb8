"""The decision on one answer: its verdict, what decided, and the opinion of each judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from msgspec.structs import replace

from pytest_llmeval.records import Json, Record, Verdict
from pytest_llmeval.records.score import DECIDED_BY, OPINIONS
from pytest_llmeval.scoring.decision import UnscoredError
from pytest_llmeval.scoring.judge.scale import Scale

LABEL: Final = "label"
"""The key of a judged score's details that holds the label, on a scale of labels."""

CRITERIA: Final = "criteria"
"""The key of a judged score's details that holds the value of each criterion, of a rubric."""

Decider: TypeAlias = Literal["symbolic", "judge", "no answer"]
"""What decided: ``symbolic``, rules without a model (the prefilter), ``judge``, a model, or
``no answer``, that there was nothing to judge."""


class Opinion(Record, frozen=True, kw_only=True):
    """One judge's verdict on one answer.

    Attributes:
        judge: label of the model.
        correct: whether it found the answer correct; None if it gave no verdict.
        reason: the judge's reason, or why there is no verdict.
        votes: the votes in order, None for one lost to unusable replies. Asking stops as soon as
            the outcome is certain, so there may be fewer than `wanted`.
        wanted: number of votes demanded.
        failure: the error of a judge that failed, and so lost its vote; "" if it did not.
        value: its rating, or the mean of its criteria; None without one.
        label: its label; None without one.
    """

    judge: str
    correct: bool | None
    reason: str
    votes: tuple[bool | None, ...] = ()
    wanted: int = 1
    failure: str = ""
    value: float | None = None
    label: str | None = None


class Judgement(Record, frozen=True, kw_only=True):
    """The decision on one answer.

    Attributes:
        verdict: the decision; None if there is none (unscored).
        explanation: its reason, or why there is none.
        tally: the votes of all judges, as `VoteCount.to_json` writes them; empty if none were cast.
        judge: the judges that were asked, or the version of the prefilter's rules.
        decided_by: what decided; None if nothing did, or if it is unknown.
        opinions: the verdict of each judge.
    """

    verdict: Verdict | None
    explanation: str
    tally: Mapping[str, Json] = {}
    judge: str = ""
    decided_by: Decider | None = None
    opinions: tuple[Opinion, ...] = ()

    @property
    def decision(self) -> Verdict:
        """The verdict, for test bodies: ``assert judge(...).decision.correct``.

        Raises:
            UnscoredError: there is none, so that the sample is unscored and not an error.
        """
        if self.verdict is None:
            msg = f"judge: unscored: {self.explanation}"
            raise UnscoredError(msg)
        return self.verdict

    @property
    def details(self) -> dict[str, Json]:
        """The details of a judged score.

        A verdict without `decided_by`, as a user's own judge function may return it, counts as one
        of a judge. Label and criteria are in it where the verdict has some.
        """
        found: dict[str, Json] = {}
        if self.verdict and self.verdict.label is not None:
            found[LABEL] = self.verdict.label
        if self.verdict and self.verdict.criteria:
            found[CRITERIA] = dict(self.verdict.criteria)
        return {
            **found,
            DECIDED_BY: self.decided_by or ("judge" if self.verdict else None),
            "judge": self.judge,
            "tally": dict(self.tally),
            OPINIONS: [opinion.to_json() for opinion in self.opinions],
        }


def panel_name(judges: Sequence[str]) -> str:
    """Return the common name of several judges, such as ``openai/a + azure/b``."""
    return " + ".join(judges)


def together(
    scale: Scale, opinions: Sequence[Opinion], verdicts: Sequence[Verdict | None]
) -> tuple[Verdict | None, str]:
    """Return what the verdicts of several judges amount to, and the explanation.

    Without a decision the verdict is None, and the explanation lists the opinions.

    Args:
        scale: the scale of the verdicts.
        opinions: one of each judge.
        verdicts: the verdict of each, None for a judge that gave none: it counts for neither side.
    """
    found = scale.combined(verdicts)
    if len(opinions) == 1:
        return found, opinions[0].reason
    if found is not None:
        agreeing = sum(
            (one.correct, one.label) == (found.correct, found.label) for one in verdicts if one
        )
        reason = f"{agreeing} of {len(opinions)} judges: {found.reason}"
        return replace(found, reason=reason), reason
    words = {True: "correct", False: "incorrect", None: "no verdict"}
    listed = ", ".join(f"{one.judge} {one.label or words[one.correct]}" for one in opinions)
    cause = next((one.reason for one in opinions if one.correct is None), "")
    return None, f"the judges decide nothing: {listed}{cause and f' ({cause})'}"
