"""How two runs differ, all tasks in one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.comparison_sheet import comparison_sheets
from pytest_llmeval.report.metric_text import metric_head
from pytest_llmeval.report.shared_notes import shared_notes
from pytest_llmeval.report.sheet import ALWAYS, Block, Cell, Column, Label, Sheet, Tone
from pytest_llmeval.results.changes import Change
from pytest_llmeval.results.compare import Comparison, Pair

_DIFFERENCE: Final = "b - a"
_ACCURACY: Final = "accuracy"

_RANKS: Final[Mapping[str, int]] = {
    _DIFFERENCE: ALWAYS,
    "p (Holm)": 1,
    "b": 2,
    "a": 2,
    "lost": 4,
    "gained": 4,
    "n": 5,
    "p": 6,
    "d_z": 7,
    "would show": 8,
}
"""Ranks of columns; others are left out first."""

_INTERVAL, _LAST = 3, 9


def comparison_table(comparison: Comparison, title: str = "") -> Sheet:
    """Return a line for each task, model and metric, and the notes of all of them.

    The columns are those of `comparison_sheets`, and how many samples were gained and lost.
    """
    sheets = comparison_sheets(comparison)
    several = len(comparison.pairs) > 1
    lines = [
        line
        for pair, sheet in zip(comparison.pairs, sheets, strict=False)
        for block in sheet.blocks
        for line in _lines(pair, block)
    ]
    told = [
        (_name(pair) if several else "", note)
        for pair, sheet in zip(comparison.pairs, sheets, strict=False)
        for note in sheet.notes
        if not note.endswith(": none")
    ]
    notes = shared_notes(told) if several else tuple(note for _, note in told)
    alone = [note for sheet in sheets[len(comparison.pairs) :] for note in sheet.notes]
    return Sheet(
        title=title,
        blocks=(_block(comparison.pairs, lines),) if lines else (),
        notes=(*notes, *(f"without a counterpart: {note}" for note in alone)),
    )


def _name(pair: Pair) -> str:
    return clean(pair.task)


def _models(pair: Pair) -> str:
    same = pair.model_a == pair.model_b
    return clean(pair.model_a) if same else f"{clean(pair.model_a)} / {clean(pair.model_b)}"


class _Line(NamedTuple):
    """One metric of a pair: its cells by the head of their columns."""

    pair: Pair
    metric: str
    cells: dict[str, Cell]


def _lines(pair: Pair, block: Block) -> Iterator[_Line]:
    changes = {metric_head(change): change for change in pair.compared}
    for place, label in enumerate(block.labels):
        cells = {column.head: column.cells[place] for unit in block.units for column in unit}
        change = changes.get(label.text)
        if change is not None and _DIFFERENCE in cells:
            cells[_DIFFERENCE] = replace(cells[_DIFFERENCE], tone=_tone(change))
        if label.text == _ACCURACY:
            flips = {"gained": len(pair.gained), "lost": len(pair.lost)}
            cells |= {head: Cell(text=f"{number:,}") for head, number in flips.items()}
        yield _Line(pair, label.text, cells)


def _tone(change: Change) -> Tone:
    """Return whether a difference is better or worse by more than chance."""
    if change.adjusted is None or change.adjusted >= 1 - change.confidence:
        return "plain"
    return "good" if change.difference > 0 else "bad"


def _block(pairs: Sequence[Pair], lines: Sequence[_Line]) -> Block:
    names: list[tuple[Column, ...]] = []
    if len({_models(pair) for pair in pairs}) > 1:
        names.append((_words("model", [_models(line.pair) for line in lines]),))
    if len({pair.test for pair in pairs}) > len({pair.task for pair in pairs}):
        tests = [clean(line.pair.test.rpartition("::")[2]) for line in lines]
        names.append((_words("test", tests),))
    if any(line.metric != _ACCURACY for line in lines):
        names.append((_words("metric", [line.metric for line in lines]),))
    heads = dict.fromkeys(head for line in lines for head in line.cells)
    nothing = Cell(text="")
    columns = (
        Column(
            head=head,
            cells=tuple(line.cells.get(head, nothing) for line in lines),
            rank=_rank(head),
        )
        for head in heads
    )
    labels = tuple(Label(text=_name(line.pair)) for line in lines)
    return Block(head="task", labels=labels, units=(*names, tuple(columns)))


def _rank(head: str) -> int:
    return _RANKS.get(head, _INTERVAL if " %" in head else _LAST)


def _words(head: str, texts: Sequence[str]) -> Column:
    cells = tuple(Cell(text=text) for text in texts)
    return Column(head=head, cells=cells, rank=ALWAYS, words=True)
