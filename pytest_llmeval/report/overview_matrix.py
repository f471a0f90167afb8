"""Models by tasks, each cell a figure with its interval: what a report opens on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import quote, urlencode

from pytest_llmeval.report.address import name_in_page
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.metric_text import metric_head
from pytest_llmeval.report.task_title import task_title
from pytest_llmeval.report.whisker import (
    Whisker,
    interval_text,
    scale_ticks,
    value_text,
    whisker,
)
from pytest_llmeval.results.figures import Counts, Figures, Mean
from pytest_llmeval.results.summary import Summary, TaskSummary

MOST_COLUMNS: Final = 4
"""Tasks that stand side by side; more of them stand below each other."""

_Test: TypeAlias = tuple[str, str]
"""A task and the test function that ran it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The head of a line or a column, and the place in the page that it links to."""

    text: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCell:
    """A metric of one task under one model.

    `lost` counts the rows that are not in it, such as ``3 error``; "" if there are none.
    """

    value: str
    interval: str
    whisker: Whisker | None
    n: int
    lost: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One metric: a line of cells for each head of the lines; None where nothing ran."""

    name: str
    ticks: tuple[str, ...]
    lines: tuple[tuple[MatrixCell | None, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewMatrix:
    """The figures of all models and tasks; `what` names the heads of the lines."""

    what: str
    down: tuple[Head, ...]
    across: tuple[Head, ...]
    layers: tuple[Layer, ...]


def overview_matrix(summary: Summary) -> OverviewMatrix | None:
    """Return the matrix of a run; None for one model in one task.

    A line is a model and a column a task, unless many tasks, or one model, are better read the
    other way round. A task that several test functions ran has a head for each of them.
    """
    entries = {(entry.task, entry.test, entry.model): entry for entry in summary.entries}
    if len(entries) < 2:  # noqa: PLR2004 - one card tells as much
        return None
    tests = list(dict.fromkeys((task, test) for task, test, _ in entries))
    models = list(dict.fromkeys(model for *_, model in entries))
    heads = tuple(_test_heads(tests, summary)), tuple(map(_model_head, models))
    turned = len(tests) > len(models) and (len(models) == 1 or len(tests) > MOST_COLUMNS)
    layers = []
    for metric in _metrics(summary.entries):
        of_test = tuple(
            tuple(_cell(entries.get((*test, model)), metric) for model in models) for test in tests
        )
        lines = of_test if turned else tuple(zip(*of_test, strict=True))
        layers.append(Layer(name=metric_head(metric), ticks=scale_ticks(metric.scale), lines=lines))
    down, across = heads if turned else reversed(heads)
    return OverviewMatrix(
        what="task" if turned else "model", down=down, across=across, layers=tuple(layers)
    )


def _test_heads(tests: Sequence[_Test], summary: Summary) -> Iterator[Head]:
    numbers: Mapping[str, int] = {
        task: number for number, task in enumerate(dict.fromkeys(task for task, _ in tests), 1)
    }
    for task, test in tests:
        title = task_title([entry for entry in summary.entries if entry.task == task])
        if _several(task, tests):
            title += f" · {clean(test.rpartition('::')[2])}"
        yield Head(text=title, address=f"#task-{numbers[task]}")


def _model_head(model: str) -> Head:
    return Head(text=clean(model), address=_samples(model=model))


def _metrics(entries: Sequence[TaskSummary]) -> list[Mean]:
    """Return a mean of each metric; two with one name and different scales are two metrics."""
    return list(
        {
            (mean.name, mean.scale): mean for entry in entries for mean in _means(entry.figures)
        }.values()
    )


def _means(figures: Figures) -> Iterator[Mean]:
    yield figures.accuracy
    yield from figures.graded


def _cell(entry: TaskSummary | None, metric: Mean) -> MatrixCell | None:
    if entry is None:
        return None
    wanted = metric.name, metric.scale
    found = next((one for one in _means(entry.figures) if (one.name, one.scale) == wanted), None)
    if found is None:
        return None
    return MatrixCell(
        value=value_text(found),
        interval=interval_text(found),
        whisker=whisker(found),
        n=found.n,
        lost=_lost(entry.figures.counts, sum(entry.figures.cut.values())),
        address=_samples(task=entry.task, model=entry.model),
    )


def _lost(counts: Counts, cut: int) -> str:
    numbered = {
        "error": counts.error,
        "unscored": counts.unscored,
        "not run": counts.not_run,
        "cut": cut,
    }
    return ", ".join(f"{number:,} {what}" for what, number in numbered.items() if number)


def _several(task: str, tests: Sequence[_Test]) -> bool:
    return sum(other == task for other, _ in tests) > 1


def _samples(**filters: str) -> str:
    """Return the address of the table of samples under filters."""
    names = {key: name_in_page(value) for key, value in filters.items()}
    return f"#samples?{urlencode(names, errors='replace', quote_via=quote)}"
