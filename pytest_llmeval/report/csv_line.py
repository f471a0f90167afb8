"""Lines of CSV that are safe to open: without formulas and control sequences."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Final, TypeAlias

Value: TypeAlias = str | float | int | bool | None

CELL_LIMIT: Final = 32_000
"""Characters of a text; spreadsheets end at 32,767."""

_FORMULA_SIGNS: Final = frozenset("=+-@＝＋－＠\t\r\n")
"""Beginnings that make a spreadsheet calculate what a model wrote (OWASP, CSV injection)."""


def csv_line(values: Iterable[Value]) -> str:
    """Return one line.

    A text that would be a formula begins with an apostrophe; signs without a shape are written as
    escapes, texts of over CELL_LIMIT characters are cut.
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(map(_cell, values))
    return out.getvalue()


def text_of_cell(cell: str) -> str:
    """Return the text that a cell was made of, without the apostrophe before a formula."""
    return cell[1:] if cell[:1] == "'" and cell[1:].lstrip(" ")[:1] in _FORMULA_SIGNS else cell


def _cell(value: Value) -> Value:
    if not isinstance(value, str):
        return value
    shown = value[:CELL_LIMIT]
    if not shown.isprintable():
        shown = "".join(
            sign if sign.isprintable() or sign in "\n\t" else repr(sign)[1:-1] for sign in shown
        )
    cut = shown + "…" if len(value) > CELL_LIMIT else shown
    return "'" + cut if cut.lstrip(" ")[:1] in _FORMULA_SIGNS and cut.strip(" ") else cut
