"""The first screen of a report, as texts and positions: a section for each task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_llmeval.records import Row
from pytest_llmeval.report.cards import Card, card
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.dot_plot import DotPlot, dot_plots
from pytest_llmeval.report.histogram import Histogram, histogram
from pytest_llmeval.report.result_sheets import sheets
from pytest_llmeval.report.sheet import Sheet
from pytest_llmeval.report.task_title import task_title
from pytest_llmeval.results.summary import Summary, TaskSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Everything about one task."""

    anchor: str
    title: str
    models: tuple[str, ...]
    cards: tuple[Card, ...]
    plots: tuple[DotPlot, ...]
    histograms: tuple[tuple[str, Histogram], ...]
    sheet: Sheet


def sections(summary: Summary, rows: Sequence[Row]) -> tuple[Section, ...]:
    """Return a section a task, in the summary's order."""
    tasks = dict.fromkeys(entry.task for entry in summary.entries)
    return tuple(
        _section(
            f"task-{number}",
            [entry for entry in summary.entries if entry.task == task],
            sheet,
            rows,
        )
        for number, (task, sheet) in enumerate(zip(tasks, sheets(summary), strict=True), 1)
    )


def entry_names(summary: Summary) -> list[str]:
    """Return a name for each entry that no other entry has."""
    models = {entry.model for entry in summary.entries}
    names = []
    for entry in summary.entries:
        tests = {other.test for other in summary.entries if other.task == entry.task}
        parts = [entry.info.title]
        parts += [entry.model] if len(models) > 1 else []
        parts += [entry.test.rpartition("::")[2]] if len(tests) > 1 else []
        names.append(clean(" · ".join(parts)))
    return names


def _section(
    anchor: str, entries: Sequence[TaskSummary], sheet: Sheet, rows: Sequence[Row]
) -> Section:
    return Section(
        anchor=anchor,
        title=task_title(entries),
        models=tuple(dict.fromkeys(clean(entry.model) for entry in entries)),
        cards=tuple(card(entry) for entry in entries),
        plots=dot_plots(entries),
        histograms=tuple(
            (clean(entry.model), histogram(_rows_of(entry, rows), mean))
            for entry in entries
            for mean in entry.figures.graded[:1]
        ),
        sheet=sheet,
    )


def _rows_of(entry: TaskSummary, rows: Sequence[Row]) -> list[Row]:
    wanted = (entry.task, entry.test, entry.model)
    return [row for row in rows if (row.task, row.test, row.model) == wanted]
