"""What a scorer and a judge decide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytest_llmeval.records.record import Json, Record


class Verdict(Record, frozen=True, kw_only=True):
    """A judge's parsed reply: is the candidate's final answer equivalent to the target, and why."""

    equivalent: bool
    reason: str


DECIDED_BY: Final = "decided_by"
OPINIONS: Final = "opinions"
"""The keys of a judged score's details that hold who decided, and each judge's opinion."""


class Score(Record, frozen=True, kw_only=True):
    """A scorer's decision on one answer.

    `value` lies in 0..`scale` (1 or 100); `correct` None means unscored: the scorer could not
    decide, and `explanation` says why. `grader` names the scorer's version, such as
    ``number/1``. A score that does not decide (`decides` False) is shown and averaged, and makes no
    outcome.
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
        """Return the score of an answer that nobody could decide about."""
        return cls(
            name=name, value=None, scale=scale, correct=None, explanation=reason, grader=grader
        )
