"""What a forest plot shows: a mean with its interval for each task, model and run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.errors import UsageError
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.metric_text import is_percent
from pytest_llmeval.report.result_sheets import origins
from pytest_llmeval.report.task_title import task_title
from pytest_llmeval.results.figures import Figures, Mean
from pytest_llmeval.results.metric import as_value
from pytest_llmeval.results.summary import Summary, TaskSummary

ACCURACY: Final = "accuracy"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestLine:
    """One line: its name, the place of its run among the runs, and its mean."""

    name: str
    run: int
    mean: Mean


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestGroup:
    """The lines of one task."""

    title: str
    lines: tuple[ForestLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
    """A forest plot before it is drawn; all texts are clean.

    Attributes:
        metric: name of what is shown.
        scale: the end of its axis, in the metric's own scale; per cent are shown for 0..1.
        percent: whether it is shown in per cent.
        runs: the names of the runs; their markers are explained if there are several.
        groups: the tasks.
        notes: sentences about where the answers came from.
        left_out: the tasks without this metric.
    """

    metric: str
    scale: float
    percent: bool
    runs: tuple[str, ...]
    groups: tuple[ForestGroup, ...]
    notes: tuple[str, ...]
    left_out: tuple[str, ...]


def forest_of(
    runs: Mapping[str, Summary], *, metric: str = ACCURACY, tasks: Sequence[str] = ()
) -> Forest:
    """Return the forest plot of runs, which are given by name.

    Args:
        runs: their summaries.
        metric: accuracy, a score, a share or another metric of the tasks.
        tasks: only these, in this order; all in the order of the summaries if empty.

    Raises:
        UsageError: there is no such task, no task has the metric, or it has several scales.
    """
    entries = [(place, entry) for place, one in enumerate(runs.values()) for entry in one.entries]
    known = list(dict.fromkeys(entry.task for _, entry in entries))
    for task in tasks:
        if task not in known:
            msg = f"--task {task}: no such task in the runs; there are: {', '.join(known)}"
            raise UsageError(msg)
    chosen = [(place, one) for place, one in entries if not tasks or one.task in tasks]
    with_metric = [
        (place, entry, mean)
        for place, entry in chosen
        if (mean := _mean(entry.figures, metric)) is not None
    ]
    if not with_metric:
        there = dict.fromkeys(mean.name for _, one in chosen for mean in _means(one.figures))
        msg = f"--metric {metric}: no task has it; there are: {', '.join(there) or 'none'}"
        raise UsageError(msg)
    means = [mean for _, _, mean in with_metric]
    if len({(mean.scale, is_percent(mean)) for mean in means}) > 1:
        msg = f"--metric {metric}: the tasks have it in several scales; name some by --task"
        raise UsageError(msg)
    met = {entry.task for _, entry, _ in with_metric}
    return Forest(
        metric=clean(metric),
        scale=means[0].scale,
        percent=is_percent(means[0]),
        runs=tuple(map(clean, runs)),
        groups=tuple(
            _group([one for one in with_metric if _family(one[1].task) == family], len(runs))
            for family in dict.fromkeys(map(_family, tasks or known))
            if any(_family(task) == family for task in met)
        ),
        notes=origins(entry for _, entry, _ in with_metric),
        left_out=tuple(clean(task) for task in known if task not in met and not tasks),
    )


def _family(task: str) -> str:
    """Return a task's name without its variant."""
    return task.partition("[")[0]


def _group(entries: Sequence[tuple[int, TaskSummary, Mean]], runs: int) -> ForestGroup:
    tasks = {entry.task for _, entry, _ in entries}
    tests = {entry.test for _, entry, _ in entries}
    titled = task_title([entry for _, entry, _ in entries])
    ordered = sorted(entries, key=lambda one: (one[1].task, one[1].test, one[1].model, one[0]))
    lines = []
    for place, entry, mean in ordered:
        parts = [clean(entry.model)]
        if len(tasks) > 1:
            parts.append(clean(f"[{entry.task.partition('[')[2]}") if "[" in entry.task else "")
        if len(tests) > 1:
            parts.append(clean(entry.test.rpartition("::")[2]))
        lines.append(
            ForestLine(
                name=" · ".join(filter(None, parts)), run=place if runs > 1 else 0, mean=mean
            )
        )
    title = titled if len(tasks) == 1 else clean(_family(ordered[0][1].task))
    return ForestGroup(title=title, lines=tuple(lines))


def _means(figures: Figures) -> Iterator[Mean]:
    yield figures.accuracy
    yield from figures.scores
    yield from (as_value(mean, share=True) for mean in figures.shares)
    yield from figures.further_metrics


def _mean(figures: Figures, metric: str) -> Mean | None:
    return next((mean for mean in _means(figures) if mean.name == metric), None)
