"""What the results say of a task: its title, its figures, and the literature's where they compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_llmeval.catalog import LoadedTask
    from pytest_llmeval.results.summary import TaskInfo


def task_info(loaded: LoadedTask) -> TaskInfo:
    """Return a task's info."""
    from pytest_llmeval.results.summary import TaskInfo  # noqa: PLC0415 - with the first results

    task = loaded.task
    return TaskInfo(title=task.name, metrics=task.metrics, group_by=task.group_by, demo=True)
