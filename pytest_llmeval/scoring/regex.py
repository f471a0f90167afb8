"""The scorer `regex`: the answer matches a regular expression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import regex

from pytest_llmeval.records import Json, Sample, Score, Target, TargetForm, target_text
from pytest_llmeval.scoring.binary import decided, no_answer, shown
from pytest_llmeval.scoring.targets import ALL_FORMS

SECONDS: Final = 1.0
"""CPU seconds that a match may take. Linear patterns need milliseconds for a long answer; a match
that backtracks without end is cut off here, whatever pattern and answer are."""

LONGEST_PATTERN: Final = 10_000
"""Characters of a pattern; its compilation has no time limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Regex:
    """Correct when a regular expression in Python's syntax matches the answer.

    Args:
        name: name of the score.
        pattern: the expression for all samples; None: each sample's target is one.
        full: the whole answer must match, not a part of it.
        ignore_case: upper and lower case are equal.

    Raises:
        ValueError: `pattern` is no regular expression.
    """

    name: str = "regex"
    pattern: str | None = None
    full: bool = False
    ignore_case: bool = False

    grader = "regex/1"
    scale = 1.0

    def __post_init__(self) -> None:
        """Compile `pattern`."""
        if self.pattern is not None:
            self._compiled(self.pattern)

    @property
    def targets(self) -> frozenset[TargetForm]:
        """A text is the pattern; with a pattern for all samples every target is accepted."""
        return frozenset({"text"}) if self.pattern is None else ALL_FORMS

    def check(self, target: Target) -> None:
        """Raise ValueError if the target is the pattern, and no regular expression."""
        if self.pattern is None:
            self._compiled(target_text(target))

    def score(
        self,
        answer: str | None,
        sample: Sample,
        prepared: Json,  # noqa: ARG002 - nothing is prepared
    ) -> Score:
        """Return 1 if the pattern matches, 0 if it does not, or not within `SECONDS`."""
        if answer is None:
            return no_answer(self)
        pattern = sample.target_text if self.pattern is None else self.pattern
        compiled = self._compiled(pattern)
        match = compiled.fullmatch if self.full else compiled.search
        try:
            correct = match(answer, timeout=SECONDS) is not None
        except TimeoutError:
            told = f"{shown(pattern)} does not match within {SECONDS:g} CPU s: it backtracks"
            return decided(self, told, correct=False)
        relation = "matches" if correct else "does not match"
        return decided(self, f"{shown(pattern)} {relation} {shown(answer)}", correct=correct)

    def _compiled(self, pattern: str) -> regex.Pattern[str]:
        if not pattern or len(pattern) > LONGEST_PATTERN:
            problem = "is empty" if not pattern else f"has more than {LONGEST_PATTERN} characters"
            msg = f"the pattern {shown(pattern)} {problem}"
            raise ValueError(msg)
        try:
            return regex.compile(pattern, regex.IGNORECASE if self.ignore_case else 0)
        except (regex.error, RecursionError, OverflowError) as error:
            msg = f"{shown(pattern)} is no regular expression: {error}"
            raise ValueError(msg) from None
