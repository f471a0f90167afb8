"""The result of comparing one answer with one target."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from msgspec.structs import replace

from pytest_llmeval.records import Record
from pytest_llmeval.scoring.eed.metric.distance import ScoreFunction
from pytest_llmeval.scoring.eed.metric.edits import Edit
from pytest_llmeval.scoring.eed.metric.marked import MarkedTrees

Mode: TypeAlias = Literal["corrected", "published"]
Reading: TypeAlias = Literal[
    "equivalent", "coefficient", "structural", "unreadable", "unreadable target"
]

EED_CORRECTED: Final = "eed-corrected/2"
"""Version of the corrected mode; changes with every change of a score."""

EED_PUBLISHED: Final = "eed-published/1"
"""Version of the mode that reproduces the published metric."""

GRADERS: Final[dict[Mode, str]] = {"corrected": EED_CORRECTED, "published": EED_PUBLISHED}

FULL_SCORE: Final = 100.0
COEFFICIENT_FROM: Final = 30.0
"""Lowest score of a coefficient error; lower scores are structural errors (PHYBench paper)."""


class EedResult(Record, frozen=True, kw_only=True):
    """One answer compared with one target.

    Attributes:
        mode: the mode of the comparison.
        score: 0..100; 100 only for equality.
        reading: the kind of difference. ``unreadable``: the answer is not a formula;
            ``unreadable target``: the target is not one, so nothing is decided.
        reason: how the score was found, in one line.
        relative_distance: `distance` / `tree_size`; None if no trees were compared.
        tree_size: number of nodes of the target's tree; None if no trees were compared.
        distance: edit distance in nodes; None if no trees were compared.
        edits: the edits that turn the answer's tree into the target's.
        assumptions: assumptions made in reading the formulas.
        answer: the answer's formula as read.
        target: the target's formula as read.
        trees: the compared trees; None if there are none, or if one is too large to show.
    """

    mode: Mode
    score: float
    reading: Reading
    reason: str
    relative_distance: float | None = None
    tree_size: int | None = None
    distance: float | None = None
    edits: tuple[Edit, ...] = ()
    assumptions: tuple[str, ...] = ()
    answer: str = ""
    target: str = ""
    trees: MarkedTrees | None = None

    @property
    def grader(self) -> str:
        """The version of the mode, such as ``eed-corrected/2``."""
        return GRADERS[self.mode]

    @property
    def equivalent(self) -> bool:
        """Whether the answer equals the target."""
        return self.reading == "equivalent"

    @property
    def decided(self) -> bool:
        """Whether the score is about the answer; False if the target could not be read."""
        return self.reading != "unreadable target"

    @classmethod
    def unreadable(cls, mode: Mode, reason: str) -> EedResult:
        """Return the result of an answer that cannot be read or evaluated: score 0."""
        return cls(mode=mode, score=0.0, reading="unreadable", reason=reason)

    @classmethod
    def unreadable_target(cls, mode: Mode, reason: str) -> EedResult:
        """Return the result for a target that cannot be read: score 0, undecided."""
        return cls(
            mode=mode,
            score=0.0,
            reading="unreadable target",
            reason=f"the target cannot be read: {reason}",
        )

    def rescored(self, score: ScoreFunction) -> EedResult:
        """Return the result under another scoring function, if trees were compared and differ."""
        if self.distance is None or not self.tree_size or self.equivalent:
            return self
        value = score(self.distance, self.tree_size)
        return replace(self, score=value, reading=reading_of(value))


def reading_of(score: float) -> Reading:
    """Return the kind of difference for a score below equality."""
    return "coefficient" if score >= COEFFICIENT_FROM else "structural"
