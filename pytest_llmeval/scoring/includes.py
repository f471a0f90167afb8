"""The scorer `includes`: the target occurs in the answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_llmeval.records import Json, Sample, Score
from pytest_llmeval.scoring.binary import decided, no_answer, shown
from pytest_llmeval.scoring.text import comparable


@dataclass(frozen=True, slots=True, kw_only=True)
class Includes:
    """Correct when the target occurs in the answer, whatever else stands there.

    Args:
        name: name of the score.
        ignore_case: upper and lower case are equal.
        whole_word: no letter, digit or underscore may adjoin the occurrence.
    """

    name: str = "includes"
    ignore_case: bool = True
    whole_word: bool = False

    grader = "includes/1"
    scale = 1.0

    def check(self, target: str) -> None:
        """Raise ValueError for a blank target: every answer includes it."""
        if not target.strip():
            msg = f"target {shown(target)} is blank, and occurs in every answer"
            raise ValueError(msg)

    def score(
        self,
        answer: str | None,
        sample: Sample,
        prepared: Json,  # noqa: ARG002 - nothing is prepared
    ) -> Score:
        """Return 1 if the target occurs in the answer, else 0."""
        if answer is None:
            return no_answer(self)
        text, wanted = (
            comparable(one, ignore_case=self.ignore_case) for one in (answer, sample.target_text)
        )
        correct = self._occurs(wanted, text)
        relation = "includes" if correct else "does not include"
        word = "the word " if self.whole_word else ""
        told = f"{shown(answer)} {relation} {word}{shown(sample.target_text)}"
        return decided(self, told, correct=correct)

    def _occurs(self, wanted: str, text: str) -> bool:
        if not self.whole_word:
            return wanted in text
        # A boundary is asked for on both sides also where the target ends in a sign, as in "C++".
        return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", text) is not None
