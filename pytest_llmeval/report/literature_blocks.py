"""Tables of figures that others published."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.metric_text import metric_head, metric_value
from pytest_llmeval.report.sheet import Block, Label, column_of
from pytest_llmeval.results.figures import Figures
from pytest_llmeval.results.task_info import TaskInfo, metric_name

_SOURCE_LIMIT = 200
"""Longest name of a source, in characters."""


def literature_blocks(info: TaskInfo, figures: Figures) -> Iterator[Block]:
    """Yield the published figures, a block for each source, in the columns that the run has too."""
    means = {metric_name(mean.name): mean for mean in (figures.accuracy, *figures.scores)}
    for source in dict.fromkeys(figure.source for figure in info.published):
        published = [
            figure
            for figure in info.published
            if figure.source == source and figure.metric in means
        ]
        names = tuple(dict.fromkeys(figure.name for figure in published))
        units = []
        for metric in dict.fromkeys(figure.metric for figure in published):
            values = {figure.name: figure.value for figure in published if figure.metric == metric}
            texts = [metric_value(values.get(name), means[metric]) for name in names]
            units.append((column_of(metric_head(means[metric]), texts, "quiet"),))
        if units:
            labels = tuple(Label(text=clean(name), indented=True) for name in names)
            yield Block(
                title=f"published: {clean(source, _SOURCE_LIMIT)}",
                labels=labels,
                units=tuple(units),
            )
