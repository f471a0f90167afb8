"""A table before it is drawn: titles, rows, columns; all text is clean already."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Tone: TypeAlias = Literal["plain", "strong", "quiet", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell: its text and its emphasis."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: its head and a cell for each row."""

    head: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """The head of a row; groups are indented under their model."""

    text: str
    indented: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Rows and their columns. A narrow page may break between units, not inside one."""

    title: str = ""
    labels: tuple[Label, ...]
    units: tuple[tuple[Column, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A titled set of tables: figures, notes below them, and published figures."""

    title: str
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()
    literature: tuple[Block, ...] = ()


def column_of(head: str, texts: Iterable[str], tone: Tone = "plain") -> Column:
    """Return a column of texts that are clean already."""
    return Column(head=head, cells=tuple(Cell(text=text, tone=tone) for text in texts))


def trouble(number: int) -> Cell:
    """Return the cell of a count that should be 0."""
    return Cell(text=f"{number:,}", tone="warning" if number else "quiet")
