"""The scale ``{labels: [...], correct: [...]}``: one of several labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import ClassVar, Final

from pytest_llmeval.records import Json, Verdict
from pytest_llmeval.scoring.judge.majority import is_settled, winning
from pytest_llmeval.scoring.judge.reply import ONE_OBJECT, REASON, SENTENCE, decisions

_KEY: Final = "label"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelScale:
    """``{"reason": "...", "label": one of the labels}``; more than half of several decide.

    Attributes:
        labels: the labels, at least two.
        correct: those of them that a correct answer has.
    """

    labels: tuple[str, ...]
    correct: tuple[str, ...]
    kind: ClassVar[str] = "label"
    lowest: ClassVar[float] = 0.0
    highest: ClassVar[float] = 1.0
    criteria: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for labels that cannot be told apart, or that decide nothing."""
        if len(set(self.labels)) < 2 or len(set(self.labels)) < len(self.labels):  # noqa: PLR2004 - as the message says
            msg = f"labels are {[*self.labels]}; write at least two, each once"
            raise ValueError(msg)
        if not all(label.strip() for label in self.labels):
            msg = f"labels are {[*self.labels]}; none may be blank"
            raise ValueError(msg)
        if unknown := [label for label in self.correct if label not in self.labels]:
            msg = f"correct names {unknown[0]!r}, which is no label ({', '.join(self.labels)})"
            raise ValueError(msg)
        if not 0 < len(set(self.correct)) < len(self.labels):
            msg = (
                f"correct is {[*self.correct]} of the labels {[*self.labels]}; write the labels "
                "that a correct answer has: at least one, and not all"
            )
            raise ValueError(msg)

    @property
    def properties(self) -> dict[str, Json]:
        """The JSON schema of the reply's keys."""
        return {REASON: {"type": "string"}, _KEY: {"type": "string", "enum": [*self.labels]}}

    @property
    def options(self) -> dict[str, Json]:
        """The options of a task that give this scale."""
        return {"scale": {"labels": [*self.labels], "correct": [*self.correct]}}

    @property
    def deciding(self) -> dict[str, Json]:
        """The labels of a correct answer, which the judge is not told."""
        return {"correct": [*self.correct]}

    def form(self, passes: str) -> str:  # noqa: ARG002 - the port's
        """Return the paragraph that tells the judge what to reply."""
        *others, last = (json.dumps(label, ensure_ascii=False) for label in self.labels)
        return f'{ONE_OBJECT}{{{SENTENCE}, "{_KEY}": {", ".join(others)} or {last}}}'

    def read(self, reply: str) -> Verdict | None:
        """Return the verdict that a reply consists of; None if it is unusable."""
        found = decisions(reply, (_KEY,))
        if found is None:
            return None
        label = found[0][_KEY]
        if not isinstance(label, str) or label not in self.labels:
            return None
        return Verdict(correct=label in self.correct, label=label, reason=found[1])

    def combined(self, verdicts: Sequence[Verdict | None]) -> Verdict | None:
        """Return the first verdict with the label that more than half have."""
        return winning(verdicts, attrgetter("label"))

    def is_settled(self, verdicts: Sequence[Verdict | None], left: int) -> bool:
        """Whether a label has won, or none can any more."""
        return is_settled(verdicts, attrgetter("label"), left)

    def shortfall(self, value: float | None, label: str | None) -> str:  # noqa: ARG002 - the port's
        """Return what a verdict that is not correct says."""
        return f"labelled {label!r}, and correct is {' or '.join(map(repr, self.correct))}"
