"""The tasks of a stored run, as its session knew them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from pytest_llmeval.files.json_file import record_in
from pytest_llmeval.records import Json
from pytest_llmeval.results.run_files import RUN, SUMMARY
from pytest_llmeval.results.stored_run import StoredRun, read_summary
from pytest_llmeval.results.task_info import TaskInfo


def stored_tasks(run: StoredRun) -> Mapping[str, TaskInfo]:
    """Return what the run's session knew of its tasks, by name.

    It stands in summary.json; for a killed run, and for a task of which a summary found no rows,
    in run.json. UsageError names file and field of what cannot be read.
    """
    tasks = cast("dict[str, dict[str, Json]]", run.info.get("tasks", {}))
    told = {
        str(task["name"]): record_in(run.path / RUN, TaskInfo, task["info"])
        for task in tasks.values()
        if "info" in task
    }
    if not (run.path / SUMMARY).is_file():
        return told
    return told | {entry.task: entry.info for entry in read_summary(run.path).entries}
