"""Tables of several runs, models or tasks side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from string import ascii_uppercase
from typing import Final

from pytest_llmeval.report import numbers
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.comparison_sheet import (
    ENGINES_DIFFER,
    difference_columns,
    short_version,
    signed,
)
from pytest_llmeval.report.figures_block import trouble_column
from pytest_llmeval.report.metric_text import metric_head, metric_interval, metric_value
from pytest_llmeval.report.sheet import Block, Cell, Column, Label, Sheet, column_of
from pytest_llmeval.results.changes import Change
from pytest_llmeval.results.entry_key import ABSENT
from pytest_llmeval.results.figures import Figures, Mean
from pytest_llmeval.results.matrix import Contender, Matrix
from pytest_llmeval.results.rows import ENGINE

_LEGEND: Final = (
    "*: p (Holm) below {level:.3g}, so the interval (Holm) leaves 0 out; adjusted over all pairs "
    "and metrics of the table"
)

_PAIR: Final = 2
"""Contenders whose difference is shown in one line rather than in a table of rows and columns."""

_ACCURACY, _SPAN, _SCORE, _REST = 1, 3, 4, 7
"""Ranks of columns, the most important one first."""


def matrix_sheet(matrix: Matrix, title: str = "") -> Sheet:
    """Return the contenders' figures over common samples, and all differences with intervals."""
    sheet = _sheet(matrix, title)
    blocks = (_figures(matrix), *_differences(matrix), *_pairs(matrix)) if matrix.n else ()
    return replace(sheet, blocks=blocks)


def short_matrix_sheet(matrix: Matrix, title: str = "") -> Sheet:
    """Return the same for the end of a run: differences without intervals if there are several."""
    shown = _pairs if len(matrix.contenders) <= _PAIR else _differences
    blocks = (_figures(matrix), *shown(matrix)) if matrix.n else ()
    return replace(_sheet(matrix, title), blocks=blocks)


def matrix_name(matrix: Matrix) -> str:
    """Return the task and test function of all contenders; the model, where tasks differ."""
    places = [one.place for one in matrix.contenders]
    tasks, models = {place.task for place in places}, {place.model for place in places}
    parts = [*tasks, places[0].test.rpartition("::")[2]] if len(tasks) == 1 else [*models][:1]
    return " · ".join(map(clean, parts))


def contender_names(matrix: Matrix) -> tuple[str, ...]:
    """Return a letter for each contender, and what it is called: model, task, or test function."""
    return tuple(
        f"{_letter(place)} {_name(one, matrix.contenders)}"
        for place, one in enumerate(matrix.contenders)
    )


def _sheet(matrix: Matrix, title: str) -> Sheet:
    demo = " (demo data)" if all(one.info.demo for one in matrix.contenders) else ""
    common = f"{matrix.n:,} sample{'s' * (matrix.n != 1)} that all scored"
    parts = [title, matrix_name(matrix) + demo, common]
    return Sheet(
        title=" · ".join(part for part in parts if part), blocks=(), notes=tuple(_notes(matrix))
    )


def _notes(matrix: Matrix) -> Iterator[str]:
    names = contender_names(matrix)
    if len({one.place.run for one in matrix.contenders}) > 1:
        for name, one in zip(names, matrix.contenders, strict=True):
            letter, _, what = name.partition(" ")
            yield f"{letter}: {what} in {clean(one.place.run)}"
    changes = [change for of_pair in matrix.changes.values() for change in of_pair]
    if any(change.differs_among_all for change in changes):
        yield _LEGEND.format(level=1 - changes[0].confidence)
    if matrix.regraded:
        pairs = ", ".join(f"{_letter(i)} with {_letter(j)}" for i, j in matrix.regraded)
        yield f"GRADERS DIFFER, so what they decide is not compared: {pairs}"
    if any(one.scored != matrix.n for one in matrix.contenders):
        counts = _each(matrix, [f"{one.scored:,}" for one in matrix.contenders])
        yield f"scored samples: {counts}; only the {matrix.n:,} common ones count"
    yield from _doubts(matrix)
    for name, values in matrix.versions.items():
        texts = _each(matrix, [clean(short_version(value)) for value in values])
        yield f"{clean(name)} differs: {texts}"
    if len({*matrix.versions.get(ENGINE, ())} - {ABSENT}) > 1:
        yield ENGINES_DIFFER


def _doubts(matrix: Matrix) -> Iterator[str]:
    """Yield which contenders' figures are to be read with care, and why."""
    doubts: dict[str, list[bool]] = {
        "scored nothing, and so left out of the comparison": [
            not one.scored for one in matrix.contenders
        ],
        "graded by the test's body alone, so nothing tells that graders are the same": [
            not one.graded for one in matrix.contenders
        ],
        "demo data": [one.info.demo for one in matrix.contenders],
        "recorded replies": [one.figures.recorded > 0 for one in matrix.contenders],
        "cached replies": [one.figures.cached > 0 for one in matrix.contenders],
        "rows that a stand-in answered": [bool(one.figures.stand_ins) for one in matrix.contenders],
    }
    if all(doubts["demo data"]):
        del doubts["demo data"]  # the title says so
    for what, concerned in doubts.items():
        if any(concerned):
            which = "all" if all(concerned) else _letters(concerned)
            yield f"{what}: {which}"


def _letters(concerned: Sequence[bool]) -> str:
    return ", ".join(_letter(place) for place, one in enumerate(concerned) if one)


def _each(matrix: Matrix, texts: Sequence[str]) -> str:
    places = range(len(matrix.contenders))
    return ", ".join(f"{_letter(place)} {text}" for place, text in zip(places, texts, strict=True))


def _letter(place: int) -> str:
    """Return A to Z, then A1 and so on: what a column is called."""
    again, letter = divmod(place, len(ascii_uppercase))
    return ascii_uppercase[letter] + (str(again) if again else "")


def _name(one: Contender, contenders: Sequence[Contender]) -> str:
    """Return what differs between contenders: model, task, test function; the model if nothing."""
    places = [other.place for other in contenders]
    parts = [one.place.model] if len({place.model for place in places}) > 1 else []
    if len({place.task for place in places}) > 1:
        parts.append(one.info.title)
    if len({place.test for place in places if place.task == one.place.task}) > 1:
        parts.append(one.place.test.rpartition("::")[2])
    return clean(" · ".join(parts) or one.place.model)


def _labels(matrix: Matrix) -> tuple[Label, ...]:
    return tuple(Label(text=name) for name in contender_names(matrix))


def _figures(matrix: Matrix) -> Block:
    units = [*_metrics(matrix), *_shares(matrix), _counts(matrix)]
    if use := _use([one.figures for one in matrix.contenders]):
        units.append(use)
    return Block(labels=_labels(matrix), units=tuple(units))


def _metrics(matrix: Matrix) -> Iterator[tuple[Column, ...]]:
    """Yield accuracy and each score with their intervals."""
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
        rank, span = (_ACCURACY, _SPAN) if name == "accuracy" else (_SCORE, _REST)
        value = column_of(head, texts, "strong", rank=rank)
        yield value, column_of("95 %", spans, "quiet", rank=span)


def _shares(matrix: Matrix) -> Iterator[tuple[Column, ...]]:
    """Yield the shares that a scorer or a solver declares, such as valid answers."""
    shares = [{mean.name: mean for mean in one.figures.shares} for one in matrix.contenders]
    headings = {
        name: one.info.heading(name)
        for one, of_one in zip(matrix.contenders, shares, strict=True)
        for name in of_one
    }
    for name, heading in headings.items():
        texts = [
            numbers.percent(of_one[name].value) if name in of_one else numbers.NONE
            for of_one in shares
        ]
        yield (column_of(clean(heading), texts, rank=_REST),)


def _counts(matrix: Matrix) -> tuple[Column, ...]:
    """Return what became of all rows, also of those that are not compared."""
    counts = [one.counts for one in matrix.contenders]
    columns = [column_of("scored", [f"{one.scored:,} of {one.planned:,}" for one in counts])]
    columns.append(trouble_column("error", [one.error for one in counts], "bad"))
    rare = {
        "unscored": [one.unscored for one in counts],
        "not run": [one.not_run for one in counts],
    }
    columns += [trouble_column(head, of_all) for head, of_all in rare.items() if any(of_all)]
    return tuple(columns)


def _use(sets: Sequence[Figures]) -> tuple[Column, ...]:
    """Return tokens, cost and time of one row on average; () where no request is known."""
    if not any(one.usage.requests for one in sets):
        return ()
    tokens, cost, seconds = [], [], []
    for one in sets:
        rows, known = max(one.counts.planned, 1), one.usage.requests > 0
        price = None if one.usage.cost is None or not known else one.usage.cost / rows
        tokens.append(numbers.count(round(one.usage.total_tokens / rows)) if known else "")
        cost.append(numbers.money(price, at_least=one.unpriced > 0))
        seconds.append(numbers.seconds(one.seconds.total / rows if known else None))
    return (
        column_of("tokens per row", [text or numbers.NONE for text in tokens], rank=_REST),
        column_of("cost per row", cost, rank=_SCORE),
        column_of("seconds per row", seconds, rank=_REST),
    )


def _means(one: Contender) -> Iterator[Mean]:
    """Yield accuracy, and the scores that do not repeat it."""
    yield one.figures.accuracy
    yield from one.figures.graded


def _differences(matrix: Matrix) -> Iterator[Block]:
    """Yield a table for each metric: how each contender (row) differs from each (column)."""
    for by_pair in _by_metric(matrix):
        places = range(len(matrix.contenders))
        columns = tuple(
            Column(head=_letter(column), cells=tuple(_cell(by_pair, row, column) for row in places))
            for column in places
        )
        heading = metric_head(next(iter(by_pair.values())))
        yield Block(title=f"{heading}: row minus column", labels=_labels(matrix), units=(columns,))


def _pairs(matrix: Matrix) -> Iterator[Block]:
    """Yield a table for each metric: a line for each pair, with interval and p."""
    for by_pair in _by_metric(matrix):
        changes = list(by_pair.values())
        yield Block(
            title=f"{metric_head(changes[0])}: paired differences",
            labels=tuple(Label(text=f"{_letter(b)} - {_letter(a)}") for a, b in by_pair),
            units=difference_columns("difference", changes),
        )


def _by_metric(matrix: Matrix) -> Iterator[Mapping[tuple[int, int], Change]]:
    """Yield the changes of each metric by the places of the pair."""
    metrics = dict.fromkeys(
        (change.name, change.scale) for of_pair in matrix.changes.values() for change in of_pair
    )
    for name, scale in metrics:
        yield {
            place: change
            for place, of_pair in matrix.changes.items()
            for change in of_pair
            if (change.name, change.scale) == (name, scale)
        }


def _cell(by_pair: Mapping[tuple[int, int], Change], row: int, column: int) -> Cell:
    change = by_pair.get((min(row, column), max(row, column)))
    if change is None:
        return Cell(text="", tone="quiet")
    difference = change.difference if row > column else -change.difference
    return Cell(
        text=signed(difference, change) + "*" * change.differs_among_all,
        tone="strong" if change.differs_among_all else "plain",
    )
