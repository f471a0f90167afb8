"""Means by group, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.report import numbers
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.whisker import (
    Whisker,
    interval_text,
    scale_ticks,
    value_text,
    whisker,
)
from pytest_llmeval.results.figures import Figures, Mean
from pytest_llmeval.results.summary import TaskSummary

MOST_GROUPS: Final = 40
"""Groups that a plot shows; more stand in the table of all figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """One row of a dot plot; `series` numbers the models, `whisker` None: there is no value."""

    label: str
    series: int
    name: str
    value: str
    interval: str
    n: int
    whisker: Whisker | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DotPlot:
    """A mean by group; `ticks` are the labels at 0, 25, 50, 75 and 100 per cent of the axis."""

    title: str
    dots: tuple[Dot, ...]
    ticks: tuple[str, ...]
    left_out: int = 0


def dot_plots(entries: Sequence[TaskSummary]) -> tuple[DotPlot, ...]:
    """Return accuracy and first graded score by group, for each column that groups a task."""
    plots = []
    scores = tuple(dict.fromkeys(mean.name for entry in entries for mean in entry.figures.graded))
    for key in dict.fromkeys(group.key for entry in entries for group in entry.groups):
        plots += [_dot_plot(entries, key, name) for name in ("accuracy", *scores[:1])]
    return tuple(plots)


def _dot_plot(entries: Sequence[TaskSummary], key: str, name: str) -> DotPlot:
    values = sorted(
        {group.value for entry in entries for group in entry.groups if group.key == key}
    )
    dots, scale = [], 1.0
    for value in values[:MOST_GROUPS]:
        for series, entry in enumerate(entries):
            figures = next(
                (one.figures for one in entry.groups if (one.key, one.value) == (key, value)), None
            )
            mean = None if figures is None else _mean(figures, name)
            if mean is not None:
                scale = mean.scale
                dots.append(_dot(mean, value, series, entry))
    title = f"{'Accuracy' if name == 'accuracy' else clean(name)} by {clean(key)}"
    return DotPlot(
        title=title, dots=tuple(dots), ticks=scale_ticks(scale), left_out=len(values[MOST_GROUPS:])
    )


def _dot(mean: Mean, value: str, series: int, entry: TaskSummary) -> Dot:
    return Dot(
        label=clean(value) or numbers.NONE,
        series=series,
        name=clean(entry.model),
        value=value_text(mean),
        interval=interval_text(mean),
        n=mean.n,
        whisker=whisker(mean),
    )


def _mean(figures: Figures, name: str) -> Mean | None:
    means = (figures.accuracy, *figures.scores)
    return next((mean for mean in means if mean.name == name), None)
