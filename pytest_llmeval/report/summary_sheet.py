"""All tasks of a run in one table: the end of a run on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.figures_block import accuracy_unit, lost_unit, trouble_column
from pytest_llmeval.report.score_columns import score_units
from pytest_llmeval.report.sheet import ALWAYS, Block, Cell, Column, Label, Sheet
from pytest_llmeval.results.figures import Figures
from pytest_llmeval.results.summary import Summary, TaskSummary

DEMO: Final = " *"
"""Stands behind the names of tasks whose data are for a demonstration."""

_CUT: Final = 5
"""The rank of the column of cut replies: before scores."""


def summary_sheet(summary: Summary) -> Sheet:
    """Return a line for each task, model and test function, without groups.

    A score has a column, blank where a task has none. Models and test functions have one where they
    differ; counts of what went wrong, where something did.
    """
    entries = summary.entries
    if not entries:
        return Sheet(title="", blocks=())
    sets = [entry.figures for entry in entries]
    units = (
        *_names(entries),
        accuracy_unit(sets),
        *_lost(sets),
        *score_units(sets, [entry.info for entry in entries]),
    )
    labels = tuple(Label(text=clean(one.task) + DEMO * one.info.demo) for one in entries)
    return Sheet(title="", blocks=(Block(head="task", labels=labels, units=units),))


def only_model(summary: Summary) -> str:
    """Return the model of all lines; "" where there are several, or none."""
    models = {entry.model for entry in summary.entries}
    return clean(models.pop()) if len(models) == 1 else ""


def _names(entries: Sequence[TaskSummary]) -> Iterator[tuple[Column, ...]]:
    """Yield the columns of models and of test functions, where the lines differ in them."""
    if len({entry.model for entry in entries}) > 1:
        yield (_words("model", [clean(entry.model) for entry in entries]),)
    tests: dict[str, set[str]] = {}
    for entry in entries:
        tests.setdefault(entry.task, set()).add(entry.test)
    if any(len(of_task) > 1 for of_task in tests.values()):
        texts = [
            clean(entry.test.rpartition("::")[2]) if len(tests[entry.task]) > 1 else ""
            for entry in entries
        ]
        yield (_words("test", texts),)


def _words(head: str, texts: Sequence[str]) -> Column:
    return Column(
        head=head, cells=tuple(Cell(text=text) for text in texts), rank=ALWAYS, words=True
    )


def _lost(sets: Sequence[Figures]) -> Iterator[tuple[Column, ...]]:
    """Yield the counts of lost samples and of cut replies that are not 0 everywhere."""
    cut = replace(trouble_column("cut", [sum(one.cut.values()) for one in sets]), rank=_CUT)
    for column in (*lost_unit(sets), cut):
        if any(cell.text != "0" for cell in column.cells):
            yield (column,)
