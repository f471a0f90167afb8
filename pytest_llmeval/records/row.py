"""One result as stored."""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern
from typing import Literal, NamedTuple, Self, TypeAlias

from pytest_llmeval.records.record import Json, Record
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


class Row(Record, frozen=True, kw_only=True):
    """One result: the parts of its key, outcome, scores, and what reading and aggregating it needs.

    `groups` holds the sample's values by `group_by` key, of which a list of tags has several.
    `seconds` is the models' time without queueing; `cached`: every reply came from another run,
    `age` the oldest's seconds; `recorded`: the replies came from a recording; `reports` counts the
    reports under this key (reruns). `engine_uncertain`: the tool that another one stood in for might have answered
    otherwise. `versions` holds the task's version, its dataset's and prompt's
    digests, and the graders' versions.
    """

    test: str
    task: str
    sample: str
    model: str
    epoch: int
    nodeid: str
    outcome: Outcome
    scores: tuple[Score, ...] = ()
    answer: str | None = None
    target: str = ""
    explanation: str = ""
    tags: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = {}
    stop_reason: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0
    cached: bool = False
    age: float | None = None
    recorded: bool = False
    reports: int = 1
    worker: str = ""
    engine_uncertain: bool = False
    details: Mapping[str, Json] = {}
    versions: Mapping[str, Json] = {}

    @property
    def key(self) -> RowKey:
        """What the row is known by."""
        return RowKey(self.test, self.task, self.sample, self.model, self.epoch)

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return the row that `to_json` wrote; texts that thousands of rows share are held once."""
        if isinstance(data, dict):
            shared = {name: intern(text) for name in _SHARED if type(text := data.get(name)) is str}
            data = {**data, **shared}
        return super().from_json(data)


_SHARED = ("test", "task", "model", "outcome", "explanation", "stop_reason", "worker")
