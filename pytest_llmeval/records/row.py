"""One result as stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from sys import intern
from typing import Literal, NamedTuple, TypeAlias, cast

from pytest_llmeval.records.message import Json
from pytest_llmeval.records.request import Usage
from pytest_llmeval.records.score import Score

Outcome: TypeAlias = Literal["correct", "incorrect", "error", "unscored", "not run"]
"""What became of a planned sample: five counts, kept apart everywhere."""


class RowKey(NamedTuple):
    """What a row is known by; a second report under the same key replaces the first.

    `test` is the test function's node id with any parameters that are not ours.
    """

    test: str
    task: str
    sample: str
    model: str
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One result: key, outcome, scores, and what is needed to read and aggregate it.

    `groups` holds the sample's values by `group_by` key, of which a list of tags has several.
    `seconds` is the models' time without queueing; `cached`: every reply came from another run,
    `age` the oldest's seconds; `recorded`: the replies came from a recording; `reports` counts the
    reports under this key (reruns). `engine_uncertain`: Neo4j might have answered a query otherwise
    than the engine that was asked. `versions` holds the task's version, its dataset's and prompt's
    digests, and the graders' versions.
    """

    key: RowKey
    nodeid: str
    outcome: Outcome
    scores: tuple[Score, ...] = ()
    answer: str | None = None
    target: str = ""
    explanation: str = ""
    tags: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stop_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    cached: bool = False
    age: float | None = None
    recorded: bool = False
    reports: int = 1
    worker: str = ""
    engine_uncertain: bool = False
    details: Mapping[str, Json] = field(default_factory=dict)
    versions: Mapping[str, Json] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form: the key's parts stand at the top level."""
        return {
            **cast("dict[str, Json]", self.key._asdict()),
            "nodeid": self.nodeid,
            "outcome": self.outcome,
            "scores": [score.to_json() for score in self.scores],
            "answer": self.answer,
            "target": self.target,
            "explanation": self.explanation,
            "tags": list(self.tags),
            "groups": {name: list(values) for name, values in self.groups.items()},
            "stop_reason": self.stop_reason,
            "usage": self.usage.to_json(),
            "seconds": self.seconds,
            "cached": self.cached,
            "age": self.age,
            "recorded": self.recorded,
            "reports": self.reports,
            "worker": self.worker,
            "engine_uncertain": self.engine_uncertain,
            "details": dict(self.details),
            "versions": dict(self.versions),
        }

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> Row:
        """Return the row that `to_json` wrote."""
        # What thousands of rows have in common is held once.
        return cls(
            key=RowKey(
                intern(str(data["test"])),
                intern(str(data["task"])),
                str(data["sample"]),
                intern(str(data["model"])),
                cast("int", data["epoch"]),
            ),
            nodeid=str(data["nodeid"]),
            outcome=cast("Outcome", intern(str(data["outcome"]))),
            scores=tuple(
                Score.from_json(item) for item in cast("list[dict[str, Json]]", data["scores"])
            ),
            answer=cast("str | None", data["answer"]),
            target=str(data["target"]),
            explanation=intern(str(data["explanation"])),
            tags=tuple(cast("list[str]", data["tags"])),
            groups={
                name: tuple(values)
                for name, values in cast("dict[str, list[str]]", data["groups"]).items()
            },
            stop_reason=intern(str(data["stop_reason"])),
            usage=Usage.from_json(cast("dict[str, Json]", data["usage"])),
            seconds=cast("float", data["seconds"]),
            cached=bool(data["cached"]),
            age=cast("float | None", data["age"]),
            recorded=bool(data["recorded"]),
            reports=cast("int", data["reports"]),
            worker=intern(str(data["worker"])),
            engine_uncertain=bool(data.get("engine_uncertain")),
            details=cast("dict[str, Json]", data["details"]),
            versions=cast("dict[str, Json]", data["versions"]),
        )
