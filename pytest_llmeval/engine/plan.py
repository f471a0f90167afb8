"""The plan of a run: the selected tests in their order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, cast

from pytest_llmeval.engine.specs import RECORDED
from pytest_llmeval.records import Json, RowKey


class PlannedTest(NamedTuple):
    """One selected test that waits for a completion.

    Attributes:
        nodeid: the test's node id.
        test: node id of the test function, without this plugin's parameters.
        file: address of the task: its file, with the variant if it has some.
        task: name of the task.
        sample: id of the sample.
        model: label of the model under test; "" for the task's recording.
        epoch: number of the sample's repetition, from 1.
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
        """The key of the test's row."""
        return RowKey(self.test, self.task, self.sample, self.model or RECORDED, self.epoch)


@dataclass(frozen=True)
class Plan:
    """The selected tests, and the data of their tasks.

    Attributes:
        tests: in test order.
        tasks: file, name and `LoadedTask.digest` of every collected task, to compare processes.
        wrong: files of the tasks that could not be loaded, which have no tests here.
    """

    tests: tuple[PlannedTest, ...]
    tasks: tuple[tuple[str, str, str], ...]
    wrong: tuple[str, ...] = ()

    @cached_property
    def index(self) -> dict[str, int]:
        """The position of each node id in `tests`."""
        return {test.nodeid: position for position, test in enumerate(self.tests)}

    @cached_property
    def kinds(self) -> tuple[PlannedTest, ...]:
        """One test for each task file and model; all tests of a kind use the same models."""
        return tuple({(test.file, test.model): test for test in self.tests}.values())

    @cached_property
    def digest(self) -> str:
        """The sha256, in hex, of tests and tasks; it differs if processes collected differently."""
        return hashlib.sha256(
            json.dumps(self.to_json(), ensure_ascii=False).encode("utf-8", "surrogatepass")
        ).hexdigest()

    def without(self, files: Container[str]) -> Plan:
        """Return the plan without the tests of some task files."""
        return replace(self, tests=tuple(test for test in self.tests if test.file not in files))

    def with_files(self, renamed: Callable[[str], str]) -> Plan:
        """Return the plan with other paths of its task files, as another machine has them."""
        return Plan(
            tests=tuple(test._replace(file=renamed(test.file)) for test in self.tests),
            tasks=tuple((renamed(file), name, digest) for file, name, digest in self.tasks),
            wrong=tuple(map(renamed, self.wrong)),
        )

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return cast(
            "dict[str, Json]",
            {
                "tests": [list(test) for test in self.tests],
                "tasks": [list(t) for t in self.tasks],
                "wrong": list(self.wrong),
            },
        )

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> Plan:
        """Return the plan that `to_json` wrote."""
        tests = cast("list[tuple[str, str, str, str, str, str, int]]", data["tests"])
        tasks = cast("list[tuple[str, str, str]]", data["tasks"])
        return cls(
            tests=tuple(PlannedTest(*test) for test in tests),
            tasks=tuple((file, name, digest) for file, name, digest in tasks),
            wrong=tuple(cast("list[str]", data["wrong"])),
        )
