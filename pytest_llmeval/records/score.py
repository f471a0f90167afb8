"""What a scorer and a judge decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, cast

from pytest_llmeval.records.message import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judge's parsed reply: is the candidate's final answer equivalent to the target, and why."""

    equivalent: bool
    reason: str


DECIDED_BY: Final = "decided_by"
OPINIONS: Final = "opinions"
"""The keys of a judged score's details that hold who decided, and each judge's opinion."""

ErrorKind: TypeAlias = Literal["PP", "RR"]

ERROR_KINDS: Final[Mapping[ErrorKind, str]] = {
    "PP": "Physical Perception",
    "RR": "Robust Reasoning",
}
"""Where a physics solution goes wrong (PHYBench paper): the set-up is misread, or the derivation
slips."""


TAXONOMY: Final = "taxonomy"
"""The key of a row's details that holds the label of its error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorLabel:
    """The kind of a wrong answer's decisive error by a judge, and why; `kind` None: no usable label, and why not."""

    kind: ErrorKind | None
    reason: str
    judge: str = ""
    grader: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "label": self.kind,
            "reason": self.reason,
            "judge": self.judge,
            "grader": self.grader,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A scorer's decision on one answer.

    `value` lies in 0..`scale` (1 or 100); `correct` None means unscored: the scorer could not
    decide, and `explanation` says why. `grader` names the scorer's version, such as
    ``eed-corrected/1``. A score that does not decide (`decides` False, such as ``EED published``
    beside ``EED``) is shown and averaged, and makes no outcome.
    """

    name: str
    value: float | None
    scale: float = 1.0
    correct: bool | None
    explanation: str = ""
    grader: str = ""
    decides: bool = True
    details: Mapping[str, Json] = field(default_factory=dict)

    @classmethod
    def unscored(cls, name: str, reason: str, *, scale: float = 1.0, grader: str = "") -> Score:
        """Return the score of an answer that nobody could decide about."""
        return cls(
            name=name, value=None, scale=scale, correct=None, explanation=reason, grader=grader
        )

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "name": self.name,
            "value": self.value,
            "scale": self.scale,
            "correct": self.correct,
            "explanation": self.explanation,
            "grader": self.grader,
            "decides": self.decides,
            "details": dict(self.details),
        }

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> Score:
        """Return the score that `to_json` wrote."""
        return cls(
            name=str(data["name"]),
            value=cast("float | None", data["value"]),
            scale=cast("float", data["scale"]),
            correct=cast("bool | None", data["correct"]),
            explanation=str(data["explanation"]),
            grader=str(data["grader"]),
            decides=bool(data["decides"]),
            details=cast("dict[str, Json]", data["details"]),
        )
