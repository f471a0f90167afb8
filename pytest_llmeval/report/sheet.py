"""A table before it is drawn: titles, rows, columns; all text is clean already."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Tone: TypeAlias = Literal["plain", "strong", "quiet", "warning", "good", "bad"]
"""What a text means, by which it is coloured. ``good`` and ``bad`` are verdicts: passed and failed,
significantly better and worse, samples that were lost."""

ALWAYS: Final = 0
"""The rank of a column that no page leaves out, however narrow."""

USUAL: Final = 5
"""The rank of a column that says nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell: its text and its emphasis."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: its head and a cell for each row.

    Attributes:
        head: its heading.
        cells: one for each row.
        rank: a page that is too narrow leaves out the columns of the highest rank first, of several
            the rightmost; never one of rank ALWAYS.
        words: whether it holds names: they start at its left end, and long ones are shortened.
    """

    head: str
    cells: tuple[Cell, ...]
    rank: int = USUAL
    words: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """The head of a row; groups are indented under their model."""

    text: str
    indented: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Rows and their columns.

    Attributes:
        title: stands above it.
        head: heading of the labels.
        labels: the head of each row.
        units: columns that belong together, such as a value and its interval.
    """

    title: str = ""
    head: str = ""
    labels: tuple[Label, ...]
    units: tuple[tuple[Column, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A titled set of tables: figures, notes below them, and published figures."""

    title: str
    tone: Tone = "strong"
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()
    literature: tuple[Block, ...] = ()


def column_of(
    head: str, texts: Iterable[str], tone: Tone = "plain", *, rank: int = USUAL
) -> Column:
    """Return a column of texts that are clean already."""
    return Column(head=head, cells=tuple(Cell(text=text, tone=tone) for text in texts), rank=rank)


def trouble(number: int, tone: Tone = "warning") -> Cell:
    """Return the cell of a count that should be 0."""
    return Cell(text=f"{number:,}", tone=tone if number else "quiet")
