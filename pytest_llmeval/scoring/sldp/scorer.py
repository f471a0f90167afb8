"""The scorer ``sldp``: equality of SLDP texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pytest_llmeval.errors import ScorerError
from pytest_llmeval.records import Display, Json, Sample, Score
from pytest_llmeval.scoring.binary import decided, shown
from pytest_llmeval.scoring.scorer import NO_ANSWER
from pytest_llmeval.scoring.sldp.difference import sldp_diff
from pytest_llmeval.scoring.sldp.equality import SLDP_GRADER, TooCostlyError
from pytest_llmeval.scoring.sldp.parser import LONGEST_ANSWER, parse_sldp
from pytest_llmeval.scoring.sldp.syntax_error import SldpSyntaxError


@dataclass(frozen=True, slots=True, kw_only=True)
class SldpScorer:
    """Scores 1 if answer and target are equal SLDP values, else 0.

    `tolerance`: numbers and coordinates are equal when they differ by less. The details hold
    ``valid_sldp``: whether the answer could be parsed.
    """

    name: str = "SLDP"
    tolerance: float = 0.01
    case_sensitive: bool = False
    grader: ClassVar[str] = SLDP_GRADER
    scale: ClassVar[float] = 1.0
    display: ClassVar[Display] = Display(
        shares=("valid_sldp",), headings={"valid_sldp": "valid SLDP"}
    )

    def __post_init__(self) -> None:
        """Raise ValueError for a negative tolerance."""
        if self.tolerance < 0:
            msg = f"tolerance is {self.tolerance!r}; it must be 0 or more"
            raise ValueError(msg)

    def check(self, target: str) -> None:
        """Raise ValueError if the target is no SLDP."""
        try:
            parse_sldp(target)
        except SldpSyntaxError as error:
            msg = f"the target is no SLDP: {error}"
            raise ValueError(msg) from None

    def score(self, answer: str | None, sample: Sample, prepared: Json = None) -> Score:  # noqa: ARG002 - part of the port
        """Return the score; its explanation lists the differences, or where parsing stopped."""
        try:
            truth = parse_sldp(sample.target_text)
        except SldpSyntaxError as error:
            msg = f"the solution is no SLDP: {error}"
            raise ScorerError(msg) from error
        if answer is None:
            return self._score(NO_ANSWER, valid=False)
        if len(answer) > LONGEST_ANSWER:
            told = f"the answer has {len(answer):,} characters, more than {LONGEST_ANSWER:,}"
            return self._score(told, valid=False)
        try:
            parsed = parse_sldp(answer)
        except SldpSyntaxError as error:
            return self._score(f"the answer is no SLDP: {error}", valid=False)
        try:
            differences = sldp_diff(
                parsed, truth, tolerance=self.tolerance, case_sensitive=self.case_sensitive
            )
        except TooCostlyError as error:
            return self._score(f"too expensive to compare: {error}", valid=True)
        return self._score("\n".join(differences), valid=True)

    def same(self, one: str, other: str, target: str) -> bool:  # noqa: ARG002 - part of the port
        """Whether two answers are equal SLDP values."""
        if max(len(one), len(other)) > LONGEST_ANSWER:
            return False
        try:
            differences = sldp_diff(
                parse_sldp(one),
                parse_sldp(other),
                tolerance=self.tolerance,
                case_sensitive=self.case_sensitive,
            )
        except (SldpSyntaxError, TooCostlyError):
            return False
        return not differences

    def failure(self, answer: str | None, sample: Sample, score: Score) -> str:  # noqa: ARG002 - part of the port
        """Return the first line of a failed assertion."""
        return f"{self.name}: {shown(answer or '')} is not equal to {shown(sample.target_text)}"

    def _score(self, explanation: str, *, valid: bool) -> Score:
        """Return the score; no explanation means that the answer is correct."""
        correct = valid and not explanation
        return decided(self, explanation, correct=correct, details={"valid_sldp": valid})
