"""Columns of scores, shares and metrics, as tasks have them; blank where one has none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from pytest_llmeval.report import numbers
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.metric_text import metric_head, metric_interval, metric_value
from pytest_llmeval.report.sheet import Cell, Column, column_of
from pytest_llmeval.results.figures import Figures, Mean, MetricValue
from pytest_llmeval.results.task_info import TaskInfo

Unit: TypeAlias = tuple[Column, ...]

NO_SUCH: Final = ""
"""The cell of a task without such a score; a score that is not defined has a dash."""

_SCORE, _METRIC, _SHARE, INTERVAL = 6, 7, 8, 9
"""Ranks: narrow pages leave out intervals first, then shares."""


def score_units(sets: Sequence[Figures], infos: Sequence[TaskInfo]) -> Iterator[Unit]:
    """Yield what sets of rows have besides accuracy and counts, in the order of importance.

    Args:
        sets: the figures, one for each row of the table.
        infos: the task of each.
    """
    yield from _corrected(sets)
    yield from _scores(sets)
    yield from _shares(sets, infos)
    yield from _repeated(sets)
    yield from _metrics(sets)


def _corrected(sets: Sequence[Figures]) -> Iterator[Unit]:
    """Yield the corrected accuracy with its interval, if any entry has one."""
    found = [figures.accuracy_corrected for figures in sets]
    if any(one is not None and one.value is not None for one in found):
        values = [NO_SUCH if one is None else numbers.percent(one.value) for one in found]
        yield column_of("accuracy corrected", values), _interval(found)


def _scores(sets: Sequence[Figures]) -> Iterator[Unit]:
    """Yield each score that does not repeat the accuracy.

    The first has its interval; all intervals stand in summary.json.
    """
    known = dict.fromkeys((mean.name, mean.scale) for one in sets for mean in one.graded)
    for place, (name, scale) in enumerate(known):
        means = [
            next((mean for mean in one.scores if (mean.name, mean.scale) == (name, scale)), None)
            for one in sets
        ]
        head = next(metric_head(mean) for mean in means if mean is not None)
        cells = tuple(_score_cell(*pair) for pair in zip(means, sets, strict=True))
        value = Column(head=head, cells=cells, rank=_SCORE)
        yield (value,) if place else (value, _interval(means))


def _interval(means: Sequence[Mean | None]) -> Column:
    texts = [NO_SUCH if mean is None else metric_interval(mean) for mean in means]
    return column_of("95 %", texts, "quiet", rank=INTERVAL)


def _score_cell(mean: Mean | None, figures: Figures) -> Cell:
    """Return the mean, with its n where that differs from the accuracy's."""
    if mean is None:
        return Cell(text=NO_SUCH)
    return Cell(text=numbers.score(mean.value, mean.scale) + _other_n(mean, figures))


def _other_n(mean: Mean, figures: Figures) -> str:
    return "" if mean.n == figures.accuracy.n else f" (n {mean.n:,})"


def _shares(sets: Sequence[Figures], infos: Sequence[TaskInfo]) -> Iterator[Unit]:
    """Yield the shares that scorers and solvers declare, such as valid answers."""
    rows = [
        {clean(info.heading(mean.name)): mean for mean in one.shares}
        for one, info in zip(sets, infos, strict=True)
    ]
    for head in dict.fromkeys(head for of_row in rows for head in of_row):
        texts = [
            numbers.percent(of_row[head].value) + _other_n(of_row[head], one)
            if head in of_row
            else NO_SUCH
            for of_row, one in zip(rows, sets, strict=True)
        ]
        yield (column_of(head, texts, rank=_SHARE),)


def _repeated(sets: Sequence[Figures]) -> Iterator[Unit]:
    """Yield pass@k and pass^k for the largest k of any figures.

    A declared pass@k has a column of its own, with its interval.
    """
    most = max((repeated.k for figures in sets for repeated in figures.repeated), default=0)
    if not most:
        return
    found = [next((one for one in figures.repeated if one.k == most), None) for figures in sets]
    once = [numbers.percent(None if one is None else one.at_least_one) for one in found]
    every = [numbers.percent(None if one is None else one.every_one) for one in found]
    always = column_of(f"pass^{most}", every, rank=_METRIC)
    if any(one.name == f"pass@{most}" for figures in sets for one in figures.metrics):
        yield (always,)
    else:
        yield column_of(f"pass@{most}", once, rank=_METRIC), always


def _metrics(sets: Sequence[Figures]) -> Iterator[Unit]:
    """Yield each declared metric that no other column shows: value and interval."""
    standing = {
        one.name
        for figures in sets
        for one in figures.metrics
        if one not in figures.further_metrics
    }
    for name in dict.fromkeys(one.name for figures in sets for one in figures.metrics):
        if name not in standing:
            found = [_declared(figures, name) for figures in sets]
            texts = [_metric_text(one, of) for one, of in zip(found, sets, strict=True)]
            yield column_of(clean(name), texts, rank=_METRIC), _interval(found)


def _declared(figures: Figures, name: str) -> MetricValue | None:
    return next((one for one in figures.metrics if one.name == name), None)


def _metric_text(metric: MetricValue | None, figures: Figures) -> str:
    """Return a metric's value; of shares of samples with the n of these."""
    if metric is None:
        return NO_SUCH
    if metric.value is None:
        return numbers.NONE
    if not metric.share:
        return metric_value(metric.value, metric) + _other_n(metric, figures)
    left_out = f" ({metric.left_out:,} left out)" if metric.left_out else ""
    return metric_value(metric.value, metric) + left_out
