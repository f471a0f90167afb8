"""The stored result of one sample."""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern
from typing import Literal, NamedTuple, Self, TypeAlias

from pytest_llmeval.records.record import Json, Record
from pytest_llmeval.records.request import Usage
from pytest_llmeval.records.score import Score
from pytest_llmeval.records.target import Target, target_text

Outcome: TypeAlias = Literal["correct", "incorrect", "error", "unscored", "not run"]
"""The state of a planned sample at the end; tables and metrics count the five separately."""


class RowKey(NamedTuple):
    """The identity of a row; a second report under the same key replaces the first.

    Attributes:
        test: node id of the test function, with parameters that are not this plugin's.
        task: name of the task.
        sample: id of the sample.
        model: label of the model under test.
        epoch: number of the sample's repetition, from 1.
    """

    test: str
    task: str
    sample: str
    model: str
    epoch: int


class Row(Record, frozen=True, kw_only=True):
    """The stored result of one sample.

    Attributes:
        test, task, sample, model, epoch: see `RowKey`.
        nodeid: the test's full node id.
        outcome: correct, incorrect, error, unscored or not run.
        scores: all recorded scores.
        answer: the answer found in the completion; None without one.
        target: the sample's reference answer.
        order: of multiple choice the letters that the choices have in the dataset, in the order in
            which they were shown, such as ``CADB``.
        question: digest of the sample's input, choices and pictures; "" where it is not known, as
            in rows of earlier versions.
        explanation: text of the failure, or why the sample was not run; "" when it passed.
        tags: of the sample.
        groups: the sample's values for each `group_by` key; several where the value is a list.
        stop_reason: why the completion's final reply ended.
        usage: tokens and cost of all calls, judges included.
        seconds: summed latency of all calls, without queueing.
        cached: whether every reply came from another run.
        age: age of the oldest reply in seconds, if `cached`.
        recorded: whether the replies came from a recording.
        reports: number of reports under this key; above 1 after reruns.
        worker: name of the xdist worker, "" without xdist.
        engine: what answered the uses of tools that several engines can answer, such as
            ``sqlite``; "" where none was used.
        stands_in_for: what `engine` answered in place of, so that the results are not its; "" if
            in place of nothing.
        details: of the completion.
        versions: version of the task, digests of dataset, prompt and settings, and for each score
            ``grader:NAME`` the grader's version.
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
    target: Target = ""
    order: str = ""
    question: str = ""
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
    engine: str = ""
    stands_in_for: str = ""
    details: Mapping[str, Json] = {}
    versions: Mapping[str, Json] = {}

    @property
    def key(self) -> RowKey:
        """The row's identity."""
        return RowKey(self.test, self.task, self.sample, self.model, self.epoch)

    @property
    def target_text(self) -> str:
        """The target as one text; see `records.target.target_text`."""
        return target_text(self.target)

    @property
    def dataset_target(self) -> Target:
        """The target as the dataset has it: of choices the right one's letter there."""
        if not self.order or not isinstance(self.target, str):
            return self.target
        return self.order[ord(self.target) - ord("A")]

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return the row that `to_json` wrote; texts shared by many rows are interned."""
        if isinstance(data, dict):
            shared = {name: intern(text) for name in _SHARED if type(text := data.get(name)) is str}
            data = {**data, **shared}
        return super().from_json(data)


_SHARED = ("test", "task", "model", "outcome", "explanation", "stop_reason", "worker")
"""Fields whose texts are interned when rows are read, to save memory."""
