"""A scorer's score, and a judge's verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytest_llmeval.records.record import Json, Record


class Verdict(Record, frozen=True, kw_only=True):
    """A judge's parsed reply.

    Attributes:
        correct: whether the answer is correct; None where the verdict does not tell.
        value: the rating, of a judge that rates.
        label: the label, of a judge that labels.
        criteria: by name what the judge finds of each criterion, of a judge that is asked for
            several: a rating, or 1 (met) and 0.
        reason: the judge's explanation.
    """

    correct: bool | None
    value: float | None = None
    label: str | None = None
    criteria: Mapping[str, float] = {}
    reason: str


DECIDED_BY: Final = "decided_by"
"""The key of a judged score's details that holds what decided: ``judge``, or a rule's name."""

OPINIONS: Final = "opinions"
"""The key of a judged score's details that holds the opinion of each judge."""


class Score(Record, frozen=True, kw_only=True):
    """A scorer's result for one answer.

    Attributes:
        name: name of the score, and heading of its column.
        value: in 0..`scale`; None when unscored.
        scale: the highest value, above 0, such as 1 or 100.
        correct: None means unscored: the scorer could not decide.
        explanation: why the answer is incorrect or unscored.
        grader: name and version of the rules that decided, such as ``number/1``.
        decides: whether the sample's outcome follows this score; if not, the score is only shown
            and averaged.
        details: further findings of the scorer.
    """

    name: str
    value: float | None
    scale: float = 1.0
    correct: bool | None
    explanation: str = ""
    grader: str = ""
    decides: bool = True
    details: Mapping[str, Json] = {}

    @classmethod
    def unscored(cls, name: str, reason: str, *, scale: float = 1.0, grader: str = "") -> Score:
        """Return the score of an answer that could not be scored, because of `reason`."""
        return cls(
            name=name, value=None, scale=scale, correct=None, explanation=reason, grader=grader
        )
