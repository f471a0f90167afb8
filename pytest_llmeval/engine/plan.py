"""The plan of a run: the selected tests in their order, told alike by every process."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, cast

from pytest_llmeval.engine.specs import RECORDED
from pytest_llmeval.records import Json, RowKey


class PlannedTest(NamedTuple):
    """One selected test: its node id, and the sample it waits for.

    `file` is the task file's path and `task` its name; `model` a model spec as typed, or "" for the
    task's recorded replies; `test` is the test function without our parameters.
    """

    nodeid: str
    test: str
    file: str
    task: str
    sample: str
    model: str
    epoch: int

    @property
    def key(self) -> RowKey:
        """What the test's row is known by."""
        return RowKey(self.test, self.task, self.sample, self.model or RECORDED, self.epoch)


@dataclass(frozen=True)
class Plan:
    """The selected tests in order; and file, name and data's digest of every collected task, to compare processes."""

    tests: tuple[PlannedTest, ...]
    tasks: tuple[tuple[str, str, str], ...]

    @cached_property
    def index(self) -> dict[str, int]:
        """The position of each node id."""
        return {test.nodeid: position for position, test in enumerate(self.tests)}

    @cached_property
    def kinds(self) -> tuple[PlannedTest, ...]:
        """One test for each task file and model: all tests of a kind ask the same models."""
        return tuple({(test.file, test.model): test for test in self.tests}.values())

    @cached_property
    def digest(self) -> str:
        """The hash of tests and data: equal in all processes, or they collected different things."""
        return hashlib.sha256(
            json.dumps(self.to_json(), ensure_ascii=False).encode("utf-8", "surrogatepass")
        ).hexdigest()

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return cast(
            "dict[str, Json]",
            {"tests": [list(test) for test in self.tests], "tasks": [list(t) for t in self.tasks]},
        )

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> Plan:
        """Return the plan that `to_json` wrote."""
        tests = cast("list[tuple[str, str, str, str, str, str, int]]", data["tests"])
        tasks = cast("list[tuple[str, str, str]]", data["tasks"])
        return cls(
            tests=tuple(PlannedTest(*test) for test in tests),
            tasks=tuple((file, name, digest) for file, name, digest in tasks),
        )
