"""What the results say of a task: its title, its figures, and the literature's where they compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_llmeval.catalog import LoadedTask
    from pytest_llmeval.results.summary import TaskInfo


def task_info(loaded: LoadedTask) -> TaskInfo:
    """Return a task's info.

    A task that names published figures is a published benchmark: on any other dataset than the public one its results
    are a demonstration, and no figure stands beside them.
    """
    from pytest_llmeval.results.literature import load_literature  # noqa: PLC0415 - with the first results
    from pytest_llmeval.results.summary import TaskInfo  # noqa: PLC0415 - as above

    task = loaded.task
    literature = None if task.published is None else load_literature(task.published)
    public = literature is not None and loaded.dataset_digest in literature.datasets
    return TaskInfo(
        title=task.name,
        metrics=task.metrics,
        group_by=task.group_by,
        demo=literature is not None and not public,
        published=literature.figures if literature is not None and public else (),
    )
