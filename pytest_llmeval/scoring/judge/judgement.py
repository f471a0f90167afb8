"""The decision on one answer: its verdict, what decided, and the opinion of each judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from pytest_llmeval.records import Json, Record, Verdict
from pytest_llmeval.records.score import DECIDED_BY, OPINIONS

Decider: TypeAlias = Literal["symbolic", "judge"]
"""What decided: ``symbolic``, rules without a model (the prefilter), or ``judge``, a model."""


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
    """

    judge: str
    correct: bool | None
    reason: str
    votes: tuple[bool | None, ...] = ()
    wanted: int = 1
    failure: str = ""


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
    def details(self) -> dict[str, Json]:
        """The details of a judged score.

        A verdict without `decided_by`, as a user's own judge function may return it, counts as one
        of a judge.
        """
        return {
            DECIDED_BY: self.decided_by or ("judge" if self.verdict else None),
            "judge": self.judge,
            "tally": dict(self.tally),
            OPINIONS: [opinion.to_json() for opinion in self.opinions],
        }


def panel_name(judges: Sequence[str]) -> str:
    """Return the common name of several judges, such as ``openai/a + azure/b``."""
    return " + ".join(judges)


def majority(opinions: Sequence[Opinion]) -> tuple[Verdict | None, str]:
    """Return the verdict of more than half of the judges, and the explanation.

    A judge without a verdict counts for neither side. The reason is that of the first judge of the
    winning side. Without a majority the verdict is None, and the explanation lists the opinions.
    """
    for side in (True, False):
        agreeing = [opinion for opinion in opinions if opinion.correct is side]
        if len(agreeing) * 2 > len(opinions):
            reason = agreeing[0].reason
            if len(opinions) > 1:
                reason = f"{len(agreeing)} of {len(opinions)} judges: {reason}"
            return Verdict(correct=side, reason=reason), reason
    if len(opinions) == 1:
        return None, opinions[0].reason
    words = {True: "correct", False: "incorrect", None: "no verdict"}
    listed = ", ".join(f"{opinion.judge} {words[opinion.correct]}" for opinion in opinions)
    return None, f"the judges decide nothing: {listed}"
