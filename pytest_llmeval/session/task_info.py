"""What the results say of a task: its title, its figures, and the literature's where they compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_llmeval.results.summary import Calibrated, TaskInfo
    from pytest_llmeval.task.catalog import LoadedTask


def task_info(loaded: LoadedTask, calibrations: Sequence[Calibrated] = ()) -> TaskInfo:
    """Return a task's info, with those of `calibrations` whose judge was asked as the task asks.

    A task that names published figures is a published benchmark: on any other dataset than the
    public one its results are a demonstration, and no figure stands beside them.
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
        calibrations=fitting(loaded, calibrations),
        whole=literature.datasets[loaded.dataset_digest]
        if literature is not None and public
        else None,
    )


def fitting(loaded: LoadedTask, calibrations: Sequence[Calibrated]) -> tuple[Calibrated, ...]:
    """Return the calibrations by the words and the number of votes with which a task asks its judges."""
    from pytest_llmeval.scoring.judge import JUDGE_PROMPT_VERSION  # noqa: PLC0415 - with the first results

    if not loaded.task.is_judged:
        return ()
    asked = (JUDGE_PROMPT_VERSION, loaded.task.judge.votes)
    return tuple(one for one in calibrations if (one.prompt, one.votes) == asked)
