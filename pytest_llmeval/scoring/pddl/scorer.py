"""The scorer ``pddl``: goals that mean the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from pytest_llmeval.errors import ScorerError
from pytest_llmeval.records import Display, Json, Sample, Score
from pytest_llmeval.scoring.binary import decided, shown
from pytest_llmeval.scoring.pddl.diagram import TooCostlyError
from pytest_llmeval.scoring.pddl.difference import pddl_diff
from pytest_llmeval.scoring.pddl.equality import MOST_FACTS, PDDL_GRADER, pddl_equals
from pytest_llmeval.scoring.pddl.goals import Goal, atoms
from pytest_llmeval.scoring.pddl.parser import LONGEST_GOAL, parse_pddl
from pytest_llmeval.scoring.pddl.predicates import predicate_problem
from pytest_llmeval.scoring.scorer import NO_ANSWER


@dataclass(frozen=True, slots=True, kw_only=True)
class PddlScorer:
    """Scores 1 if answer and target are logically equivalent goals, else 0.

    The details hold ``valid_goal``: whether the answer is a goal of the domain.

    Attributes:
        name: name of the score.
        predicates: the domain's predicates, to the kinds of their symbols, as in ``{in-room:
            [room]}``. Where some are given, a goal with another one, or with another number of
            symbols, is invalid.
        case_sensitive: whether predicates and symbols of different case differ.
    """

    name: str = "PDDL"
    predicates: Mapping[str, Sequence[str]] = field(default_factory=dict)
    case_sensitive: bool = True
    grader: ClassVar[str] = PDDL_GRADER
    scale: ClassVar[float] = 1.0
    display: ClassVar[Display] = Display(
        shares=("valid_goal",), headings={"valid_goal": "valid goal"}
    )

    def check(self, target: str) -> None:
        """Raise ValueError if the target is no goal of the domain, or too large to compare."""
        try:
            goal = self._goal(target)
        except ValueError as error:
            msg = f"the target is no goal: {error}"
            raise ValueError(msg) from None
        if (found := len(set(atoms(goal)))) > MOST_FACTS:
            msg = f"the target has {found:,} different facts, more than {MOST_FACTS}"
            raise ValueError(msg)

    def score(self, answer: str | None, sample: Sample, prepared: Json = None) -> Score:  # noqa: ARG002 - part of the port
        """Return the score; its explanation says what differs, or why the answer is no goal."""
        try:
            truth = self._goal(sample.target_text)
        except ValueError as error:
            msg = f"the solution is no goal: {error}"
            raise ScorerError(msg) from error
        if answer is None:
            return self._score(NO_ANSWER, valid=False)
        try:
            goal = self._goal(answer)
        except ValueError as error:
            return self._score(f"the answer is no goal: {error}", valid=False)
        try:
            differences = pddl_diff(goal, truth, case_sensitive=self.case_sensitive)
        except TooCostlyError as error:
            return self._score(f"too expensive to compare: {error}", valid=True)
        return self._score("\n".join(differences), valid=True)

    def same(self, one: str, other: str, target: str) -> bool:  # noqa: ARG002 - part of the port
        """Whether two answers are equivalent goals."""
        try:
            goals = self._goal(one), self._goal(other)
            return pddl_equals(*goals, case_sensitive=self.case_sensitive)
        except ValueError:
            return False

    def failure(self, answer: str | None, sample: Sample, score: Score) -> str:  # noqa: ARG002 - part of the port
        """Return the first line of a failed assertion."""
        return f"{self.name}: {shown(answer or '')} does not mean {shown(sample.target_text)}"

    def _goal(self, text: str) -> Goal:
        """Return the goal of a text; ValueError says why there is none, or none of the domain."""
        if len(text) > LONGEST_GOAL:
            msg = f"it has {len(text):,} characters, more than {LONGEST_GOAL:,}"
            raise ValueError(msg)
        goal = parse_pddl(text)
        problem = self.predicates and predicate_problem(
            goal, self.predicates, case_sensitive=self.case_sensitive
        )
        if problem:
            raise ValueError(problem)
        return goal

    def _score(self, explanation: str, *, valid: bool) -> Score:
        """Return the score; no explanation means that the answer is correct."""
        correct = valid and not explanation
        return decided(self, explanation, correct=correct, details={"valid_goal": valid})
