"""The outcome of comparing one answer with one target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias, cast

from pytest_llmeval.records import Json
from pytest_llmeval.scoring.eed.distance import ScoreFunction
from pytest_llmeval.scoring.eed.edits import Edit
from pytest_llmeval.scoring.eed.marked import MarkedTrees

Mode: TypeAlias = Literal["corrected", "published"]
Reading: TypeAlias = Literal[
    "equivalent", "coefficient", "structural", "unreadable", "unreadable target"
]

EED_CORRECTED: Final = "eed-corrected/1"
"""Version of the default mode; changes with every change of a score."""

EED_PUBLISHED: Final = "eed-published/1"
"""Version of the mode that reproduces the published metric."""

GRADERS: Final[dict[Mode, str]] = {"corrected": EED_CORRECTED, "published": EED_PUBLISHED}

FULL_SCORE: Final = 100.0
COEFFICIENT_FROM: Final = 30.0
"""From here to 60 a score reads as a coefficient error, below as a structural one (PHYBench
paper)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EedResult:
    """One answer compared with one target.

    `score` lies in 0..100; 100 only for equality. `distance` counts in nodes, `tree_size` is the
    target's number of nodes, `relative_distance` their quotient; None where no trees were compared
    (equal beforehand, or unreadable). `edits` turn the answer's tree into the target's. `reading`
    says how the answer differs: ``"unreadable"`` is an answer that is no formula, ``"unreadable
    target"`` a target that is none, so that nothing is decided. `reason` says how the score came
    about in one line; `assumptions` what was taken for granted; `answer` and `target` are the
    formulas as they were read, `trees` what was compared (None where nothing was, or where they are
    too large to show).
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
        """The version of the grader that decided, such as ``eed-corrected/1``."""
        return GRADERS[self.mode]

    @property
    def equivalent(self) -> bool:
        """Whether the answer equals the target."""
        return self.reading == "equivalent"

    @property
    def decided(self) -> bool:
        """Whether the score says something about the answer; not where the target itself could not be read."""
        return self.reading != "unreadable target"

    @classmethod
    def unreadable(cls, mode: Mode, reason: str) -> EedResult:
        """Return the result of an answer that is no formula, or none that may be evaluated: score 0."""
        return cls(mode=mode, score=0.0, reading="unreadable", reason=reason)

    @classmethod
    def unreadable_target(cls, mode: Mode, reason: str) -> EedResult:
        """Return the result of any answer to a target that cannot be read: score 0, which is not the answer's."""
        return cls(
            mode=mode,
            score=0.0,
            reading="unreadable target",
            reason=f"the target cannot be read: {reason}",
        )

    def rescored(self, score: ScoreFunction) -> EedResult:
        """Return the same comparison under another scoring function; equal stays 100, unreadable 0."""
        if self.distance is None or not self.tree_size or self.equivalent:
            return self
        value = score(self.distance, self.tree_size)
        return replace(self, score=value, reading=reading_of(value))

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "mode": self.mode,
            "score": self.score,
            "reading": self.reading,
            "reason": self.reason,
            "relative_distance": self.relative_distance,
            "tree_size": self.tree_size,
            "distance": self.distance,
            "edits": [edit.to_json() for edit in self.edits],
            "assumptions": list(self.assumptions),
            "answer": self.answer,
            "target": self.target,
            "trees": None if self.trees is None else self.trees.to_json(),
        }

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> EedResult:
        """Return the result that `to_json` wrote."""
        trees = cast("dict[str, Json] | None", data.get("trees"))
        return cls(
            mode=cast("Mode", data["mode"]),
            score=cast("float", data["score"]),
            reading=cast("Reading", data["reading"]),
            reason=str(data["reason"]),
            relative_distance=cast("float | None", data["relative_distance"]),
            tree_size=cast("int | None", data["tree_size"]),
            distance=cast("float | None", data["distance"]),
            edits=tuple(
                Edit.from_json(item) for item in cast("list[dict[str, Json]]", data["edits"])
            ),
            assumptions=tuple(cast("list[str]", data["assumptions"])),
            answer=str(data["answer"]),
            target=str(data["target"]),
            trees=None if trees is None else MarkedTrees.from_json(trees),
        )


def reading_of(score: float) -> Reading:
    """Return how a score below equality reads."""
    return "coefficient" if score >= COEFFICIENT_FROM else "structural"
