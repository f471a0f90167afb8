"""The cells of a dataset's rows: values by column, checked, with errors that name the cell."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Final, cast

from pytest_llmeval.records import Json, Target
from pytest_llmeval.task.row_place import Columns, RowPlace

_PLACE_IN_LIST: Final = re.compile(r"(?P<column>.+)\[(?P<index>\d{1,4})\]")


def required(place: RowPlace, row: Columns, column: str) -> Any:  # noqa: ANN401 - outside data
    """Return the value of a column, or of a place in its list: ``answers[0]`` is the first answer.

    A place behind the end is None.

    Raises:
        TaskError: the row lacks the column, or it holds no list.
    """
    if column in row:
        return row[column]
    indexed = _PLACE_IN_LIST.fullmatch(column)
    if indexed is None or indexed["column"] not in row:
        raise place.lacks(column, row)
    values, index = row[indexed["column"]], int(indexed["index"])
    if not isinstance(values, list):
        raise place.error(indexed["column"], f"is {shown(values)}, and {column!r} wants a list")
    return values[index] if index < len(values) else None


def optional(place: RowPlace, row: Columns, column: str) -> Any:  # noqa: ANN401 - outside data
    """Return the value of a column, or None for an absent one whose name here ends in ``?``.

    Raises:
        TaskError: the row lacks the column, which is not marked with ``?``.
    """
    if column in row:
        return row[column]
    if column.endswith("?"):
        return row.get(column[:-1])
    raise place.lacks(column, row, f"; write {column + '?'!r} for a column that rows may lack")


def several(value: Any) -> list[Any]:  # noqa: ANN401 - outside data
    """Return the values of a cell that holds one value, a list, or nothing."""
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def text(place: RowPlace, row: Columns, column: str, field: str) -> str:
    """Return a required cell as text; numbers are converted.

    Args:
        place: position of the row.
        row: the row.
        column: name of the column.
        field: the sample's field that it fills, for the message.

    Raises:
        TaskError: the cell is empty, or neither text nor a number.
    """
    return _text(place, required(place, row, column), column, field)


def _text(place: RowPlace, value: object, column: str, field: str) -> str:
    if type(value) in {int, float}:
        value = str(value)
    if not _is_full(value):
        hint = f"drop such rows with dataset.keep: \"{field} != ''\""
        if field == "target":
            hint += f", or write {column + '?'!r} if rows may have none"
        raise place.error(column, f"the {field} is empty; {hint}")
    if not isinstance(value, str):
        raise place.error(column, f"the {field} is {shown(value)}; it must be text (quote it)")
    return unicode(place, value, column)


def target(place: RowPlace, row: Columns, column: str) -> Target:
    """Return a cell as a target: a text, several texts, a JSON object, or None.

    Raises:
        TaskError: it is empty and the column's name does not end in ``?``, or of another type.
    """
    may_lack = column.endswith("?") and column not in row
    value = row.get(column[:-1]) if may_lack else required(place, row, column)
    if may_lack and not _is_full(value):
        return None
    if isinstance(value, dict) and value:
        return cast("dict[str, Json]", json_value(place, value, column))
    if isinstance(value, list) and value:
        return tuple(dict.fromkeys(_texts(place, value, column)))
    return _text(place, value, column, "target")


def texts(place: RowPlace, row: Columns, column: str) -> tuple[str, ...]:
    """Return a required cell that is a list of texts; TaskError if it is none."""
    value = required(place, row, column)
    if not isinstance(value, list):
        raise place.error(column, f"is {shown(value)}, not a list of texts")
    return _texts(place, value, column)


def _texts(place: RowPlace, values: Sequence[object], column: str) -> tuple[str, ...]:
    found = []
    for index, value in enumerate(values):
        if type(value) not in {str, int, float} or not _is_full(value):
            problem = f"the list holds {shown(value)}; each must be a text (quote it)"
            cell = f"{column}[{index}]"
            raise place.error(cell, problem)
        found.append(unicode(place, str(value), column))
    return tuple(found)


def _is_full(value: object) -> bool:
    return value not in (None, [], {}) and not (isinstance(value, str) and not value.strip())


def word(place: RowPlace, value: object, column: str, field: str) -> str:
    """Return an id or a tag as text without surrounding blanks; integers are converted.

    Raises:
        TaskError: the value is blank, or neither text nor an integer.
    """
    if type(value) not in {str, int} or not str(value).strip():
        problem = f"the {field} is {shown(value)}; it must be text or a whole number"
        raise place.error(column, problem)
    return unicode(place, str(value).strip(), column)


def json_value(place: RowPlace, value: object, column: str) -> Json:
    """Return a metadata value that is JSON.

    Parquet has types that JSON lacks; other formats cannot fail here.

    Raises:
        TaskError: the value is not JSON.
    """
    if isinstance(value, str):
        return unicode(place, value, column)
    if isinstance(value, list):
        return [json_value(place, item, column) for item in value]
    if isinstance(value, dict):
        return {str(key): json_value(place, item, column) for key, item in value.items()}
    is_finite = type(value) is float and math.isfinite(value)
    if value is None or type(value) in {bool, int} or is_finite:
        return cast("Json", value)
    raise place.error(column, f"is {shown(value)}, which JSON cannot hold")


def unicode(place: RowPlace, value: str, column: str) -> str:
    """Return a text unchanged.

    Raises:
        TaskError: it holds a lone surrogate, which UTF-8 cannot encode.
    """
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            sign = ord(value[error.start])
            problem = f"holds half a character (U+{sign:04X}) at {error.start}"
            raise place.error(column, problem) from None
    return value


def shown(value: object) -> str:
    """Return a value as an error message shows it, at most 60 characters."""
    return "empty" if value is None else f"{value!r:.60}"
