"""One of two runs that a page compares: its rows, and what its folder knows besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from pytest_llmeval.records import Json, Row
from pytest_llmeval.results.baseline import Baseline
from pytest_llmeval.results.row_texts import Whole, as_it_is
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.results.task_info import TaskInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A run, or the file of a baseline, which has neither questions, answers nor evidence.

    Attributes:
        name: what it is called.
        rows: its rows.
        tasks: what is known of its tasks, by name.
        run: its folder; None of a file.
        whole: adds the texts that a row lacks in memory.
    """

    name: str
    rows: Sequence[Row]
    tasks: Mapping[str, TaskInfo] = field(default_factory=dict)
    run: StoredRun | None = None
    whole: Whole = as_it_is

    @classmethod
    def of_baseline(cls, baseline: Baseline) -> Self:
        """Return a baseline as a side."""
        return cls(name=baseline.name, rows=baseline.rows, tasks=baseline.tasks, run=baseline.run)

    @classmethod
    def of_run(cls, run: StoredRun, tasks: Mapping[str, TaskInfo]) -> Self:
        """Return a stored run as a side."""
        return cls(name=run.path.name, rows=run.rows, tasks=tasks, run=run, whole=run.whole)

    @property
    def info(self) -> Mapping[str, Json] | None:
        """The run's run.json; None of a file."""
        return None if self.run is None else self.run.info

    @property
    def infos(self) -> Mapping[str, TaskInfo]:
        """What is known of each task of its rows."""
        names = dict.fromkeys(row.task for row in self.rows)
        return {name: self.tasks.get(name, TaskInfo(title=name)) for name in names}
