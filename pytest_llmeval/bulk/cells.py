"""Cells of a table as the texts, targets and metadata of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyarrow import types

from pytest_llmeval.bulk.fields import Fields
from pytest_llmeval.bulk.row import Row
from pytest_llmeval.records import Json, Target
from pytest_llmeval.safety.printable import printable

_BROKEN: Final = object()
"""Stands for a cell whose bytes are not valid UTF-8."""


class CellError(Exception):
    """A cell cannot be used; the message says why."""


def rows_of(table: pa.Table, fields: Fields, first: int) -> list[Row]:
    """Return the rows of a piece of a table; one that cannot be scored has a `problem`.

    Args:
        table: the piece, with the columns of `fields`.
        fields: the columns.
        first: the number of its first row in the whole table.
    """
    cells = {name: _values(table.column(name)) for name in fields.columns}
    return [_row(cells, fields, index, first + index) for index in range(table.num_rows)]


def _row(cells: dict[str, Sequence[Any]], fields: Fields, index: int, number: int) -> Row:
    def text(field: str, column: str | None) -> str | None:
        return None if column is None else _text(cells[column][index], field)

    try:
        target = None if fields.target is None else _target(cells[fields.target][index])
        return Row(
            id=text("id", fields.id) or str(number),
            answer=text("answer", fields.answer),
            target=target,
            input=text("input", fields.input) or "",
            metadata={
                name: _json(cells[column][index], name) for name, column in fields.metadata.items()
            },
        )
    except CellError as error:
        return Row(id=str(number), answer=None, target=None, problem=str(error))


def _values(column: pa.ChunkedArray) -> Sequence[Any]:
    """Return the cells of a column as objects of Python; `_BROKEN` for invalid UTF-8."""
    try:
        values: list[Any] = column.to_pylist()
    except UnicodeDecodeError:
        values = [_value(cell) for cell in column]
    if types.is_floating(column.type) and not types.is_float64(column.type):
        # As text 0.1 and not 0.10000000149011612, which is the same number in twice as many bits.
        kind = column.type.to_pandas_dtype()
        return [None if value is None else str(kind(value)) for value in values]
    return values


def _value(cell: pa.Scalar) -> object:
    try:
        return cell.as_py()
    except UnicodeDecodeError:
        return _BROKEN


def _text(value: object, field: str) -> str | None:
    """Return a cell as text; None for an empty one. Numbers are written as Python does."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return str(value)
    raise _refusal(value, field, "a text")


def _target(value: object) -> Target:
    if isinstance(value, list) and any(isinstance(one, tuple) for one in value):
        value = _mapping(value)
    if isinstance(value, dict):
        found = _json(value, "target")
        assert isinstance(found, dict)  # noqa: S101 - as it was
        return found
    if isinstance(value, list | np.ndarray):
        texts = [_text(one, "target") for one in value]
        if None in texts:
            msg = "the target is a list with an empty cell"
            raise CellError(msg)
        return tuple(dict.fromkeys(text for text in texts if text is not None)) or None
    return _text(value, "target") or None


def _json(value: object, field: str) -> Json:
    """Return a cell as a JSON value; a map is an object."""
    if isinstance(value, list):
        if any(isinstance(one, tuple) for one in value):
            return _json(_mapping(value), field)
        return [_json(one, field) for one in value]
    if isinstance(value, dict):
        return {str(key): _json(one, field) for key, one in value.items()}
    if isinstance(value, Decimal):
        return str(value)
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise _refusal(value, field, "JSON")


def _mapping(entries: Sequence[tuple[object, object]]) -> dict[str, object]:
    """Return the entries of an Arrow map as a mapping."""
    found = {str(key): value for key, value in entries}
    if len(found) < len(entries):
        msg = "the target is a map in which a key is repeated"
        raise CellError(msg)
    return found


def _refusal(value: object, field: str, wanted: str) -> CellError:
    if value is _BROKEN:
        return CellError(f"the {field} is not UTF-8")
    return CellError(f"the {field} is {printable(repr(value), 60)}, which is not {wanted}")
