"""The part of a task that results need: its info and its metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pytest_llmeval.records import display_of
from pytest_llmeval.results.declared_metrics import DeclaredMetric, declared_metrics
from pytest_llmeval.results.literature import load_literature
from pytest_llmeval.results.task_info import ScoreInfo, TaskInfo, Validated
from pytest_llmeval.scoring.grader import options_text
from pytest_llmeval.scoring.votes import same_answer
from pytest_llmeval.task.catalog import LoadedTask
from pytest_llmeval.task.options import plain


@runtime_checkable
class AskingScorer(Protocol):
    """A scorer that asks judges, whose agreement with labelled cases can be measured."""

    @property
    def question(self) -> str:
        """Version and digest of what is asked."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTask:
    """The part of a task that results need.

    Attributes:
        info: stored with a run.
        metrics: loaded from the task; functions among them cannot be stored.
    """

    info: TaskInfo
    metrics: tuple[DeclaredMetric, ...] = ()

    @property
    def reads_texts(self) -> bool:
        """Whether a metric may read the texts of rows, such as answers."""
        return any(metric.reads_texts for metric in self.metrics)


def known_task(loaded: LoadedTask, validations: Sequence[Validated] = ()) -> KnownTask:
    """Return a task's info (see `task_info`) with its metrics.

    Raises:
        MetricError, TaskError, UsageError: a metric cannot be loaded.
    """
    deciding = next((one.scorer for one in loaded.scorers if one.decides), None)
    metrics = declared_metrics(
        loaded.task.metrics, loaded.task.folder, lambda: same_answer(deciding)
    )
    return KnownTask(info=task_info(loaded, validations), metrics=metrics)


def task_info(loaded: LoadedTask, validations: Sequence[Validated] = ()) -> TaskInfo:
    """Return a task's info.

    A task that names published figures belongs to a published benchmark. On another dataset than
    the public one its results are marked as a demonstration, without published figures.

    Args:
        loaded: the task.
        validations: stored validations, of which the fitting ones are included (see `fitting`).
    """
    task = loaded.task
    literature = None if task.published is None else load_literature(task.published)
    public = literature is not None and loaded.dataset_digest in literature.datasets
    shown = literature if public else None
    return TaskInfo(
        title=task.name,
        metrics=tuple(task.metrics),
        group_by=task.group_by,
        demo=literature is not None and not public,
        published=() if shown is None else shown.figures,
        validations=fitting(loaded, validations),
        whole=None if shown is None else shown.datasets[loaded.dataset_digest],
        scores=tuple(
            ScoreInfo(
                name=one.scorer.name,
                scale=one.scorer.scale,
                decides=one.decides,
                display=display_of(one.scorer),
                scorer=one.spec.name,
                options={name: plain(value) for name, value in one.spec.options.items()},
            )
            for one in loaded.scorers
        ),
        display=loaded.display,
    )


def fitting(loaded: LoadedTask, validations: Sequence[Validated]) -> tuple[Validated, ...]:
    """Return the validations with the same question and options as a task's judges."""
    asked = {
        (one.scorer.question, options_text(one.scorer, one.spec.options))
        for one in loaded.scorers
        if isinstance(one.scorer, AskingScorer)
    }
    return tuple(one for one in validations if (one.question, one.options) in asked)
