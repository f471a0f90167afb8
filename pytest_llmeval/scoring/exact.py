"""The scorer `exact`: the answer is the target."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_llmeval.records import Json, Sample, Score
from pytest_llmeval.scoring.binary import decided, no_answer, shown
from pytest_llmeval.scoring.text import comparable


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """Correct when answer and target are the same text.

    Args:
        name: name of the score.
        ignore_case: upper and lower case are equal.
        ignore_space: runs of white space are equal, and none counts at the ends.
        ignore_punctuation: punctuation does not count.
    """

    name: str = "exact"
    ignore_case: bool = False
    ignore_space: bool = True
    ignore_punctuation: bool = False

    grader = "exact/1"
    scale = 1.0

    def check(self, target: str) -> None:
        """Raise ValueError if nothing of `target` is left to compare."""
        if not self._form(target):
            msg = f"target {shown(target)} is empty under these options, as any empty answer is"
            raise ValueError(msg)

    def score(
        self,
        answer: str | None,
        sample: Sample,
        prepared: Json,  # noqa: ARG002 - nothing is prepared
    ) -> Score:
        """Return 1 for the target, 0 for any other text."""
        if answer is None:
            return no_answer(self)
        correct = self._form(answer) == self._form(sample.target_text)
        relation = "equals" if correct else "differs from"
        told = f"{shown(answer)} {relation} the target {shown(sample.target_text)}"
        return decided(self, told, correct=correct)

    def same(self, one: str, other: str, target: str) -> bool:  # noqa: ARG002 - part of the port
        """Whether two answers are one text under the options."""
        return self._form(one) == self._form(other)

    def _form(self, text: str) -> str:
        return comparable(
            text,
            ignore_case=self.ignore_case,
            ignore_space=self.ignore_space,
            ignore_punctuation=self.ignore_punctuation,
        )
