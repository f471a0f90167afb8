"""What a stored run knows of its tasks: titles, groups, metrics, calibrations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from pytest_llmeval.results.store import SUMMARY, StoredRun, read_summary
from pytest_llmeval.results.summary import TaskInfo

if TYPE_CHECKING:
    from pytest_llmeval.records import Json


def stored_tasks(run: StoredRun) -> Mapping[str, TaskInfo]:
    """Return what the run's session knew of its tasks, by name; a killed run has it in run.json alone."""
    if (run.path / SUMMARY).is_file():
        return {entry.task: entry.info for entry in read_summary(run.path).entries}
    tasks = cast("dict[str, dict[str, dict[str, Json]]]", run.info.get("tasks", {}))
    return {
        str(task["name"]): TaskInfo.from_json(task["info"])
        for task in tasks.values()
        if "info" in task
    }
