"""Tables of several runs or models side by side."""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_uppercase

from pytest_llmeval.report import numbers
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.comparison_sheet import (
    ENGINES_DIFFER,
    SIGNIFICANT,
    is_significant,
    short_version,
    signed,
)
from pytest_llmeval.report.metric_text import metric_head, metric_interval, metric_value
from pytest_llmeval.report.sheet import Block, Cell, Column, Label, Sheet, column_of
from pytest_llmeval.results.changes import Change
from pytest_llmeval.results.figures import Mean
from pytest_llmeval.results.matrix import Contender, Matrix
from pytest_llmeval.results.rows import ENGINE

_LEGEND = f"*: p < {SIGNIFICANT:g} after Holm over all pairs and metrics of the task"


def matrix_sheet(matrix: Matrix) -> Sheet:
    """Return the contenders' figures over common samples, and differences for each metric."""
    test = clean(matrix.test.rpartition("::")[2])
    title = f"{clean(matrix.task)} · {test} · {matrix.n:,} samples that all scored"
    notes = [f"{_letter(place)}: {_name(one)}" for place, one in enumerate(matrix.contenders)]
    notes += [_LEGEND] if matrix.changes else []
    if matrix.regraded:
        pairs = ", ".join(f"{_letter(i)} with {_letter(j)}" for i, j in matrix.regraded)
        notes.append(f"GRADERS DIFFER, so what they decide is not compared: {pairs}")
    if any(one.scored != matrix.n for one in matrix.contenders):
        counts = ", ".join(
            f"{_letter(place)} {one.scored:,}" for place, one in enumerate(matrix.contenders)
        )
        notes.append(f"scored samples: {counts}; only the {matrix.n:,} common ones count")
    for name, values in matrix.versions.items():
        texts = ", ".join(
            f"{_letter(place)} {clean(short_version(value))}" for place, value in enumerate(values)
        )
        notes.append(f"{clean(name)} differs: {texts}")
    notes += [ENGINES_DIFFER] if ENGINE in matrix.versions else []
    blocks = (_figures(matrix), *_differences(matrix)) if matrix.n else ()
    return Sheet(title=title, blocks=blocks, notes=tuple(notes))


def _letter(place: int) -> str:
    """Return A to Z, then A1 and so on: what a column is called."""
    again, letter = divmod(place, len(ascii_uppercase))
    return ascii_uppercase[letter] + (str(again) if again else "")


def _name(one: Contender) -> str:
    return f"{clean(one.model)} in {clean(one.run)}"


def _labels(matrix: Matrix) -> tuple[Label, ...]:
    return tuple(
        Label(text=f"{_letter(place)} {clean(one.model)}")
        for place, one in enumerate(matrix.contenders)
    )


def _figures(matrix: Matrix) -> Block:
    units = []
    names = dict.fromkeys(
        (mean.name, mean.scale) for one in matrix.contenders for mean in _means(one)
    )
    for name, scale in names:
        found = [
            next((m for m in _means(one) if (m.name, m.scale) == (name, scale)), None)
            for one in matrix.contenders
        ]
        head = next(metric_head(mean) for mean in found if mean is not None)
        texts = [numbers.NONE if mean is None else metric_value(mean.value, mean) for mean in found]
        spans = [numbers.NONE if mean is None else metric_interval(mean) for mean in found]
        units.append((column_of(head, texts, "strong"), column_of("95 %", spans, "quiet")))
    return Block(labels=_labels(matrix), units=tuple(units))


def _means(one: Contender) -> Iterator[Mean]:
    """Yield accuracy, and the scores that do not repeat it."""
    yield one.figures.accuracy
    yield from one.figures.graded


def _differences(matrix: Matrix) -> Iterator[Block]:
    """Yield a table for each metric: how each contender (row) differs from each (column)."""
    metrics = dict.fromkeys(
        (change.name, change.scale) for of_pair in matrix.changes.values() for change in of_pair
    )
    for name, scale in metrics:
        by_pair = {
            place: change
            for place, of_pair in matrix.changes.items()
            for change in of_pair
            if (change.name, change.scale) == (name, scale)
        }
        places = range(len(matrix.contenders))
        columns = tuple(
            Column(head=_letter(column), cells=tuple(_cell(by_pair, row, column) for row in places))
            for column in places
        )
        heading = metric_head(next(iter(by_pair.values())))
        yield Block(title=f"{heading}: row minus column", labels=_labels(matrix), units=(columns,))


def _cell(by_pair: dict[tuple[int, int], Change], row: int, column: int) -> Cell:
    change = by_pair.get((min(row, column), max(row, column)))
    if change is None:
        return Cell(text="", tone="quiet")
    significant = is_significant(change)
    difference = change.difference if row > column else -change.difference
    return Cell(
        text=signed(difference, change) + "*" * significant,
        tone="strong" if significant else "plain",
    )
