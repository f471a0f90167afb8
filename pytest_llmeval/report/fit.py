"""Which columns of a table a page has room for, and how wide each is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from pytest_llmeval.report.sheet import ALWAYS, Block, Cell, Column

GAP = 2
"""Blanks between two columns."""

_INDENT = "  "
_NAMES_SHARE = 2
"""Names may take this part of the page before a column is left out for their sake, ..."""

_SHORTEST = 8
"""... and are not made shorter than this."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The columns of a block that a page shows, of which the first holds the labels.

    `widths` are theirs, in columns of the terminal; `left_out` names the others.
    """

    columns: tuple[Column, ...]
    widths: tuple[int, ...]
    left_out: tuple[str, ...]


def fit(block: Block, width: int) -> Fit:
    """Return what of a block a page of `width` columns shows: one table, whatever is left out."""
    labels = tuple(Cell(text=_INDENT * one.indented + one.text) for one in block.labels)
    shown = [Column(head=block.head, cells=labels, rank=ALWAYS, words=True)]
    shown += [column for unit in block.units for column in unit]
    dropped: list[Column] = []
    while sum(_least(shown, width)) + GAP * (len(shown) - 1) > width:
        rank = max(column.rank for column in shown)
        if rank == ALWAYS:
            break
        last = max(place for place, column in enumerate(shown) if column.rank == rank)
        dropped.append(shown.pop(last))
    left_out = tuple(_names(block, frozenset(map(id, dropped))))
    return Fit(tuple(shown), tuple(_widths(shown, width)), left_out)


def _names(block: Block, dropped: frozenset[int]) -> Iterator[str]:
    """Yield what columns are called that are not shown.

    Of a value with its interval the value is named; an interval alone by what it is of.
    """
    heads = [column.head for unit in block.units for column in unit]
    for unit in block.units:
        for column in unit:
            of = unit[0]
            if id(column) not in dropped:
                continue
            if column is of or heads.count(column.head) == 1:
                yield column.head
            elif id(of) not in dropped:
                yield f"{column.head} of {of.head}"


def _whole(column: Column) -> int:
    return max(map(cell_len, (column.head, *(cell.text for cell in column.cells))))


def _least(columns: Sequence[Column], width: int) -> list[int]:
    """Return how much room each column takes at least; names share a part of the page."""
    names = sum(column.words for column in columns)
    share = max(_SHORTEST, width // _NAMES_SHARE // names - GAP)
    return [min(_whole(column), share) if column.words else _whole(column) for column in columns]


def _widths(columns: Sequence[Column], width: int) -> list[int]:
    """Return the widths: names take what the others leave, the shortest ones first."""
    widths = _least(columns, width)
    spare = width - sum(widths) - GAP * (len(columns) - 1)
    wanting = {
        place: _whole(column) - widths[place]
        for place, column in enumerate(columns)
        if column.words
    }
    for place, wanted in sorted(wanting.items(), key=lambda one: one[1]):
        taken = max(0, min(wanted, spare))
        widths[place] += taken
        spare -= taken
    return widths
