"""The scale ``verdict``: correct or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import ClassVar

from pytest_llmeval.records import Json, Verdict
from pytest_llmeval.scoring.judge.majority import is_settled, winning
from pytest_llmeval.scoring.judge.reply import ONE_OBJECT, REASON, SENTENCE, decisions, whole_number

_KEY = "answer_correct"


@dataclass(frozen=True, slots=True)
class VerdictScale:
    """``{"answer_correct": 0 or 1, "reason": "..."}``; more than half of several decide.

    The keys are those of the published task.
    """

    kind: ClassVar[str] = "verdict"
    lowest: ClassVar[float] = 0.0
    highest: ClassVar[float] = 1.0
    criteria: ClassVar[tuple[str, ...]] = ()
    labels: ClassVar[tuple[str, ...]] = ()
    schema: ClassVar[Mapping[str, Json]] = {"type": "integer", "enum": [0, 1]}
    words: ClassVar[str] = "0 or 1"
    each: ClassVar[str] = "is 1 when it holds, otherwise 0"
    properties: ClassVar[Mapping[str, Json]] = {_KEY: dict(schema), REASON: {"type": "string"}}
    options: ClassVar[Mapping[str, Json]] = {"scale": "verdict"}
    deciding: ClassVar[Mapping[str, Json]] = {}

    def form(self, passes: str) -> str:
        """Return the paragraph that tells the judge what to reply."""
        return (
            f'{ONE_OBJECT}{{"{_KEY}": {self.words}, {SENTENCE}}}\n'
            f"{_KEY} is 1 when {passes}, otherwise 0."
        )

    def number(self, value: Json) -> int | None:
        """Return a decision as a number: 1 or 0; None for anything else."""
        return whole_number(value, 0, 1)

    def is_correct(self, values: Sequence[float]) -> bool:
        """Whether several decisions are correct together: all must hold."""
        return all(value == 1 for value in values)

    def read(self, reply: str) -> Verdict | None:
        """Return the verdict that a reply consists of; None if it is unusable."""
        found = decisions(reply, (_KEY,))
        if found is None or (number := self.number(found[0][_KEY])) is None:
            return None
        return Verdict(correct=number == 1, reason=found[1])

    def combined(self, verdicts: Sequence[Verdict | None]) -> Verdict | None:
        """Return the first verdict of the side that more than half are on."""
        return winning(verdicts, attrgetter("correct"))

    def is_settled(self, verdicts: Sequence[Verdict | None], left: int) -> bool:
        """Whether a side has won, or none can any more."""
        return is_settled(verdicts, attrgetter("correct"), left)

    def shortfall(self, value: float | None, label: str | None) -> str:  # noqa: ARG002 - the port's
        """Return what a verdict that is not correct says."""
        return "not found correct"


def judge_verdict(reply: str) -> Verdict | None:
    """Return the verdict that a reply states, or None when it is unusable.

    Its keys are ``answer_correct`` (the integer 0 or 1; not a boolean, a float or a string) and
    ``reason`` (a string).

    Example:
        >>> judge_verdict('{"answer_correct": 1, "reason": "both are 5"}').correct
        True
        >>> judge_verdict('I think so: {"answer_correct": 1, "reason": "both are 5"}')
    """
    return VerdictScale().read(reply)
