"""Rows to figures: counts, means with intervals, groups."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import fsum

from msgspec.structs import replace

from pytest_llmeval.engine.statistics import quantile
from pytest_llmeval.records import Row, Usage
from pytest_llmeval.results.answer_labels import AnswerLabel, DrawnLabels
from pytest_llmeval.results.classes import confusion, unclassed
from pytest_llmeval.results.correction import accuracy_corrected
from pytest_llmeval.results.declared_metrics import (
    DeclaredMetric,
    declared_metrics,
    share_names,
)
from pytest_llmeval.results.efficiency import efficiencies
from pytest_llmeval.results.figures import Counts, Figures, Seconds
from pytest_llmeval.results.graders import mixed_graders
from pytest_llmeval.results.judging import judging
from pytest_llmeval.results.labels import label_counts
from pytest_llmeval.results.means import accuracy_of, repeating_scores, score_means, share_means
from pytest_llmeval.results.repeated import repeated
from pytest_llmeval.results.rows import SCORED, latest, parted, versions_met
from pytest_llmeval.results.stand_in import stand_ins
from pytest_llmeval.results.summary import Group, Summary, TaskSummary
from pytest_llmeval.results.task_info import TaskInfo
from pytest_llmeval.results.votes import stored_equality

CUT = frozenset({"length", "refusal", "filter"})
"""Stop reasons of replies that ended before the model was done."""

NO_GROUP = "(none)"
"""The group of rows without a value."""


def summarise(
    rows: Iterable[Row],
    tasks: Mapping[str, TaskInfo],
    metrics: Mapping[str, Sequence[DeclaredMetric]] | None = None,
    labels: Iterable[AnswerLabel] = (),
) -> Summary:
    """Return the figures of complete rows.

    Args:
        rows: of several under one key the last counts. Planned samples without a report are rows
            with the outcome "not run".
        tasks: by name; a task that is not in it is titled by its name.
        metrics: by the name of the task; for a task that is not in it they are found by name, and
            functions in files are left out.
        labels: human labels of the rows' answers.
    """
    ordered = sorted(latest(rows), key=_order)
    drawn = DrawnLabels(labels)
    parts = parted(ordered, lambda row: (row.task, row.test, row.model))
    return Summary(
        entries=tuple(
            _corrected(
                _task_summary(
                    part, tasks.get(task, TaskInfo(title=task)), (metrics or {}).get(task)
                ),
                part,
                drawn,
            )
            for (task, _, _), part in sorted(parts.items())
        )
    )


def figures(rows: Sequence[Row], info: TaskInfo, metrics: Sequence[DeclaredMetric] = ()) -> Figures:
    """Return the figures of rows of one task, test and model."""
    scored = [row for row in rows if row.outcome in SCORED]
    accuracy, scores = accuracy_of(scored), score_means(scored)
    shares = share_means(scored, (*info.shares, *share_names(info.metrics)))
    graded = {score.name for score in info.scores if score.display.efficiency}
    return Figures(
        counts=Counts.of([row.outcome for row in rows]),
        samples=len({row.sample for row in rows}),
        epochs=max((row.epoch for row in rows), default=0),
        accuracy=accuracy,
        scores=scores,
        repeating=repeating_scores(scored),
        shares=shares,
        metrics=tuple(
            value
            for metric in metrics
            for value in metric.values(scored, scores, (accuracy, *shares))
        ),
        repeated=repeated(scored),
        efficiency=tuple(efficiencies(accuracy, scores, graded)),
        labels=label_counts(rows, info),
        judging=judging(rows, info.validations),
        confusion=confusion(scored, info.metrics),
        unclassed=unclassed(scored, info.metrics),
        usage=sum((row.usage for row in rows), Usage()),
        unpriced=sum(row.usage.requests > 0 and row.usage.cost is None for row in rows),
        seconds=_seconds(rows),
        cut=dict(
            sorted(Counter(row.stop_reason for row in rows if row.stop_reason in CUT).items())
        ),
        live=sum(map(_is_live, rows)),
        recorded=sum(row.recorded for row in rows),
        cached=sum(row.cached for row in rows),
        oldest=max((row.age for row in rows if row.cached and row.age is not None), default=None),
        reruns=sum(row.reports - 1 for row in rows if row.reports > 1),
        stand_ins=stand_ins(rows),
    )


def _is_live(row: Row) -> bool:
    """Whether a model was asked in this run; a row that failed before any request was not live."""
    asked = row.usage.requests > 0 or row.outcome not in {"error", "not run"}
    return asked and not (row.recorded or row.cached)


def _order(row: Row) -> tuple[str, str, str, int, str]:
    """Arrival under xdist has no order, and sums of floats and resampling depend on theirs."""
    return row.task, row.sample, row.model, row.epoch, row.test


def _task_summary(
    rows: Sequence[Row], info: TaskInfo, metrics: Sequence[DeclaredMetric] | None
) -> TaskSummary:
    first = rows[0]
    if metrics is None:
        metrics = declared_metrics(info.metrics, equality=lambda: stored_equality(info, rows))
    return TaskSummary(
        task=first.task,
        test=first.test,
        model=first.model,
        info=info,
        figures=figures(rows, info, metrics),
        groups=tuple(
            Group(key=key, value=value, figures=figures(part, info, metrics))
            for key in info.group_by
            for value, part in sorted(_grouped(rows, key).items())
        ),
        versions=versions_met(rows),
        graders=mixed_graders(rows),
    )


def _corrected(entry: TaskSummary, rows: Sequence[Row], labels: DrawnLabels) -> TaskSummary:
    """Return an entry with its corrected accuracy; groups have none, as judges may err by group."""
    found = accuracy_corrected(rows, entry.figures.judging, labels)
    return replace(entry, figures=replace(entry.figures, accuracy_corrected=found))


def _grouped(rows: Sequence[Row], key: str) -> dict[str, list[Row]]:
    """Return the rows by value; a row with several values, such as tags, counts under each.

    No row has a value of a column that a task declares as optional and its data lack: no groups.
    """
    if not any(row.groups.get(key) for row in rows):
        return {}
    parts: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        for value in row.groups.get(key) or (NO_GROUP,):
            parts[value].append(row)
    return parts


def _seconds(rows: Sequence[Row]) -> Seconds:
    taken = sorted(row.seconds for row in rows if row.seconds > 0)
    if not taken:
        return Seconds()
    return Seconds(total=fsum(taken), median=quantile(taken, 0.5), p95=quantile(taken, 0.95))
