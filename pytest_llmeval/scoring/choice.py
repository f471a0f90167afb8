"""The scorer `choice`: the answer states the letter of the right choice."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_llmeval.records import Json, Sample, Score
from pytest_llmeval.scoring.binary import decided, no_answer, shown
from pytest_llmeval.scoring.letters import ALL_LETTERS, stated_letter


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Correct when the answer states one letter, and it is the target.

    Args:
        name: name of the score.
        letters: the letters that the choices have: the first and the last (``A-D``), or how many
            choices there are.

    Raises:
        ValueError: `letters` is neither.
    """

    name: str = "choice"
    letters: str | int = "A-H"

    grader = "choice/2"
    scale = 1.0

    def __post_init__(self) -> None:
        """Check `letters`."""
        self._letters()

    def check(self, target: str) -> None:
        """Raise ValueError unless `target` is the letter of a choice."""
        if self._target(target) not in list(self._letters()):
            msg = f"target {shown(target)} is not one of the letters {', '.join(self._letters())}"
            raise ValueError(msg)

    def score(
        self,
        answer: str | None,
        sample: Sample,
        prepared: Json,  # noqa: ARG002 - nothing is prepared
    ) -> Score:
        """Return 1 if the answer states the target's letter and no other, else 0."""
        if answer is None:
            return no_answer(self)
        stated, right = stated_letter(answer, self._letters()), self._target(sample.target_text)
        told = f"{shown(answer)} states {stated or 'no single letter'}, right is {right}"
        return decided(self, told, correct=stated == right)

    def same(self, one: str, other: str, target: str) -> bool:  # noqa: ARG002 - part of the port
        """Whether two answers state the same letter."""
        letters = {stated_letter(answer, self._letters()) for answer in (one, other)}
        return len(letters) == 1 and None not in letters

    def _target(self, target: str) -> str:
        return target.strip().strip("().").upper()

    def _letters(self) -> str:
        if isinstance(self.letters, int):
            if 1 <= self.letters <= len(ALL_LETTERS):
                return ALL_LETTERS[: self.letters]
        elif (bounds := re.fullmatch(r"([A-Z])-([A-Z])", self.letters)) and bounds[1] <= bounds[2]:
            return ALL_LETTERS[ALL_LETTERS.index(bounds[1]) : ALL_LETTERS.index(bounds[2]) + 1]
        msg = f"letters is {self.letters!r}, neither a range such as A-D nor a number from 1 to 26"
        raise ValueError(msg)
