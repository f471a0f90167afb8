"""The figures of a run, by task and model: ``summary.json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from pytest_llmeval.records import Json, Record
from pytest_llmeval.results.figures import Figures
from pytest_llmeval.results.graders import GraderShare
from pytest_llmeval.results.task_info import TaskInfo

SCHEMA = 1
"""Version of the JSON form; it rises when a reader of the old form would misread the new."""


class Group(Record, frozen=True, kw_only=True, rename={"figures": "tally"}):
    """The rows that share one value of one `group_by` key."""

    key: str
    value: str
    figures: Figures


class TaskSummary(Record, frozen=True, kw_only=True, rename={"figures": "tally"}):
    """One task under one model, as one test function ran it.

    `versions`: every version of task, dataset, prompt and grader met in the rows; more than one
    means mixed rows. `graders`: the graders of each score that several gave, so that accuracy is no
    single number; empty where each score has one.
    """

    task: str
    test: str
    model: str
    info: TaskInfo
    figures: Figures
    groups: tuple[Group, ...] = ()
    versions: Mapping[str, tuple[str, ...]] = {}
    graders: tuple[GraderShare, ...] = ()


class Summary(Record, frozen=True, kw_only=True):
    """All figures of a run, ordered by task, test and model."""

    entries: tuple[TaskSummary, ...]

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form, under its schema's version."""
        return {"schema": SCHEMA, **super().to_json()}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return the summary that `to_json` wrote; ValueError for another schema or form."""
        found = data.get("schema") if isinstance(data, dict) else None
        if found != SCHEMA:
            msg = (
                f"this is no summary of schema {SCHEMA}, but {found!r}; "
                "make it again from the run's rows: llmeval report RUN"
            )
            raise ValueError(msg)
        return super().from_json(data)
