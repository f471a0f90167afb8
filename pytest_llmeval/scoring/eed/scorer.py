"""The scorer ``eed``: expression edit distance of LaTeX formulas, 0..100."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Final

from pytest_llmeval.records import Display, Json, Sample, Score
from pytest_llmeval.scoring.binary import shown
from pytest_llmeval.scoring.eed.result import CONVENTIONS, Convention, EedResult, Mode
from pytest_llmeval.scoring.eed.sandbox.sandbox import Sandbox
from pytest_llmeval.scoring.scorer import NO_ANSWER

VOTE_CPU_SECONDS: Final = 5.0
"""Limit on the comparison of two answers. It is short: there may be many pairs, and two answers
that cannot be compared within it are merely two votes."""

MAX_EDITS: Final = 20
"""Number of edits that an explanation lists; the score's details hold all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EedScorer:
    """Scores a formula by its edit distance to the target; correct from `minimum` on.

    `mode`: ``corrected`` decides equality by value, ``published`` reproduces the metric of the
    PHYBench paper. `conventions`: definitions that an answer need not state. Each pair is scored in
    a child process with limits on time and memory.
    """

    name: str = "EED"
    mode: Mode = "corrected"
    minimum: float = 100.0
    conventions: tuple[Convention, ...] = ()
    scale: ClassVar[float] = 100.0
    display: ClassVar[Display] = Display(formulas=True, trees="trees", efficiency=True)

    def __post_init__(self) -> None:
        """Raise ValueError for a minimum outside of the scale, or an unknown convention."""
        if not 0 <= self.minimum <= self.scale:
            msg = f"minimum is {self.minimum!r}; it must be from 0 to {self.scale:g}"
            raise ValueError(msg)
        if unknown := [name for name in self.conventions if name not in CONVENTIONS]:
            msg = f"unknown convention {unknown[0]!r}; known are {', '.join(CONVENTIONS)}"
            raise ValueError(msg)

    @property
    def grader(self) -> str:
        """The version of the mode's rules."""
        return EedResult.unreadable(self.mode, "").grader

    @property
    def grader_options(self) -> dict[str, Json]:
        """The options that the grader does not name already."""
        conventions: list[Json] = [*self.conventions]
        return {"minimum": self.minimum, **({"conventions": conventions} if conventions else {})}

    def check(self, target: str) -> None:
        """Raise ValueError if the corrected mode cannot read the target."""
        if self.mode == "corrected" and (reason := _sandbox().target_error(target)):
            msg = f"the target cannot be read as a formula: {reason}"
            raise ValueError(msg)

    def score(self, answer: str | None, sample: Sample, prepared: Json = None) -> Score:  # noqa: ARG002 - part of the port
        """Return the score, undecided if the corrected mode cannot read the target."""
        if answer is None:
            result = EedResult.unreadable(self.mode, NO_ANSWER)
        else:
            result = _sandbox().score(
                answer, sample.target_text, mode=self.mode, conventions=self.conventions
            )
        edits = [str(edit) for edit in result.edits]
        summary = f"{result.reason}: a {result.reading} difference" if edits else result.reason
        return Score(
            name=self.name,
            value=result.score if result.decided else None,
            scale=self.scale,
            correct=result.score >= self.minimum if result.decided else None,
            explanation="\n".join([summary, *(f"  {edit}" for edit in edits[:MAX_EDITS])]),
            grader=result.grader,
            details={
                "reading": result.reading,
                "reason": result.reason,
                "relative_distance": result.relative_distance,
                "tree_size": result.tree_size,
                "distance": result.distance,
                "edits": [*edits],
                "assumptions": [*result.assumptions],
                "answer": result.answer,
                "target": result.target,
                "trees": None if result.trees is None else result.trees.to_json(),
            },
        )

    def same(self, one: str, other: str, target: str) -> bool:  # noqa: ARG002 - part of the port
        """Whether two answers are equal formulas: one scores 100 with the other as its target."""
        voters, pairs = _voters_sandbox(), ((one, other), (other, one))
        if self.mode == "corrected":
            return any(voters.equal(*pair, conventions=self.conventions) for pair in pairs)
        return any(voters.score(*pair, mode=self.mode).equivalent for pair in pairs)

    def failure(self, answer: str | None, sample: Sample, score: Score) -> str:  # noqa: ARG002 - part of the port
        """Return the first line of a failed assertion."""
        reached = f"{score.value or 0:.2f} of {self.scale:g}"
        wanted = f"wanted at least {self.minimum:g}"
        return f"{self.name} ({self.mode}) {reached}, {wanted}: {shown(answer or '')}"


@cache
def _sandbox() -> Sandbox:
    """Return this process's scoring children; starting one takes seconds, so they are kept."""
    return Sandbox()


@cache
def _voters_sandbox() -> Sandbox:
    """Return this process's children for comparing answers with each other."""
    return Sandbox(cpu_seconds=VOTE_CPU_SECONDS)
