"""The table of a task's accuracy, scores, shares, metrics and counts."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_llmeval.report import numbers
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.entry_name import entry_name
from pytest_llmeval.report.metric_text import metric_head, metric_interval, metric_value
from pytest_llmeval.report.sheet import Block, Cell, Column, Label, column_of, trouble
from pytest_llmeval.results.figures import Figures, Mean, MetricValue
from pytest_llmeval.results.summary import TaskSummary
from pytest_llmeval.results.task_info import TaskInfo


def figures_block(entries: Sequence[TaskSummary]) -> Block:
    """Return accuracy, scores, shares, metrics and counts of each entry and its groups."""
    labels, sets = [], []
    for entry in entries:
        labels.append(Label(text=entry_name(entry, entries)))
        sets.append(entry.figures)
        several = len({group.key for group in entry.groups}) > 1
        for group in entry.groups:
            text = clean(f"{group.key} {group.value}" if several else group.value)
            labels.append(Label(text=text or numbers.NONE, indented=True))
            sets.append(group.figures)
    units = [
        _accuracy(sets),
        *_corrected(sets),
        *_scores(sets),
        *_shares(sets, entries[0].info),
        *_repeated(sets),
        *_metrics(sets),
        _counts(sets),
    ]
    return Block(labels=tuple(labels), units=tuple(units))


def _accuracy(sets: Sequence[Figures]) -> tuple[Column, ...]:
    return (
        column_of("accuracy", [numbers.percent(one.accuracy.value) for one in sets], "strong"),
        column_of("95 %", [metric_interval(one.accuracy) for one in sets], "quiet"),
        column_of("scored", [f"{one.counts.scored:,} of {one.counts.planned:,}" for one in sets]),
    )


def _corrected(sets: Sequence[Figures]) -> list[tuple[Column, ...]]:
    """Return the corrected accuracy with its interval, if any entry has one."""
    found = [figures.accuracy_corrected for figures in sets]
    if all(one is None or one.value is None for one in found):
        return []
    values = [numbers.NONE if one is None else numbers.percent(one.value) for one in found]
    spread = [numbers.NONE if one is None else metric_interval(one) for one in found]
    return [(column_of("accuracy corrected", values), column_of("95 %", spread, "quiet"))]


def _scores(sets: Sequence[Figures]) -> list[tuple[Column, ...]]:
    """Return a unit for each score that does not repeat the accuracy.

    The first has its interval; all intervals stand in summary.json.
    """
    names = dict.fromkeys(mean.name for figures in sets for mean in figures.graded)
    units: list[tuple[Column, ...]] = []
    for name in names:
        means = [_named(figures.scores, name) for figures in sets]
        head = next(metric_head(mean) for mean in means if mean is not None)
        value = Column(
            head=head, cells=tuple(_score_cell(*pair) for pair in zip(means, sets, strict=True))
        )
        texts = [numbers.NONE if mean is None else metric_interval(mean) for mean in means]
        spread = column_of("95 %", texts, "quiet")
        units.append((value,) if units else (value, spread))
    return units


def _named(means: Sequence[Mean], name: str) -> Mean | None:
    return next((mean for mean in means if mean.name == name), None)


def _score_cell(mean: Mean | None, figures: Figures) -> Cell:
    """Return the mean, with its n where that differs from the accuracy's."""
    if mean is None:
        return Cell(text=numbers.NONE, tone="quiet")
    return Cell(text=numbers.score(mean.value, mean.scale) + _other_n(mean, figures))


def _other_n(mean: Mean, figures: Figures) -> str:
    return "" if mean.n == figures.accuracy.n else f" (n {mean.n:,})"


def _shares(sets: Sequence[Figures], info: TaskInfo) -> list[tuple[Column, ...]]:
    units: list[tuple[Column, ...]] = []
    for name in dict.fromkeys(mean.name for figures in sets for mean in figures.shares):
        means = [(_named(figures.shares, name), figures) for figures in sets]
        texts = [
            numbers.NONE if mean is None else numbers.percent(mean.value) + _other_n(mean, figures)
            for mean, figures in means
        ]
        units.append((column_of(clean(info.heading(name)), texts),))
    return units


def _repeated(sets: Sequence[Figures]) -> list[tuple[Column, ...]]:
    """Return pass@k and pass^k for the largest k of any figures."""
    most = max((repeated.k for figures in sets for repeated in figures.repeated), default=0)
    if not most:
        return []
    found = [next((one for one in figures.repeated if one.k == most), None) for figures in sets]
    once = [numbers.percent(None if one is None else one.at_least_one) for one in found]
    every = [numbers.percent(None if one is None else one.every_one) for one in found]
    return [(column_of(f"pass@{most}", once), column_of(f"pass^{most}", every))]


def _metrics(sets: Sequence[Figures]) -> list[tuple[Column, ...]]:
    """Return a unit for each declared metric that no other column shows: value and interval."""
    standing = {
        one.name
        for figures in sets
        for one in figures.metrics
        if one not in figures.further_metrics
    }
    names = dict.fromkeys(one.name for figures in sets for one in figures.metrics)
    units: list[tuple[Column, ...]] = []
    for name in names:
        if name not in standing:
            found = [
                next((one for one in figures.metrics if one.name == name), None) for figures in sets
            ]
            units.append(
                (
                    column_of(
                        clean(name),
                        [_metric_text(one, of) for one, of in zip(found, sets, strict=True)],
                    ),
                    column_of(
                        "95 %",
                        [numbers.NONE if one is None else metric_interval(one) for one in found],
                        "quiet",
                    ),
                )
            )
    return units


def _metric_text(metric: MetricValue | None, figures: Figures) -> str:
    """Return a metric's value; of shares of samples with the n of these."""
    if metric is None or metric.value is None:
        return numbers.NONE
    if not metric.share:
        return metric_value(metric.value, metric) + _other_n(metric, figures)
    left_out = f" ({metric.left_out:,} left out)" if metric.left_out else ""
    return metric_value(metric.value, metric) + left_out


def _counts(sets: Sequence[Figures]) -> tuple[Column, ...]:
    counted = [figures.counts for figures in sets]
    return (
        column_of("correct", [f"{counts.correct:,}" for counts in counted]),
        column_of("incorrect", [f"{counts.incorrect:,}" for counts in counted]),
        Column(head="error", cells=tuple(trouble(counts.error) for counts in counted)),
        Column(head="unscored", cells=tuple(trouble(counts.unscored) for counts in counted)),
        Column(head="not run", cells=tuple(trouble(counts.not_run) for counts in counted)),
    )
