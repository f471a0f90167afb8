"""The rows of a run for spreadsheets and data frames: ``rows.csv`` and ``rows.parquet``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Row
from pytest_llmeval.report.csv_line import Value, csv_line
from pytest_llmeval.results.row_texts import Whole, as_it_is

_Column: TypeAlias = Callable[[Row], Value]


def columns_of(rows: Sequence[Row]) -> dict[str, _Column]:
    """Return the columns: heading, and what stands there of a row.

    A score's column is ``score:`` and its name. ``order`` is that of the choices, where there are
    some.
    """
    columns: dict[str, _Column] = {name: partial(_field, name=name) for name in _FIELDS}
    if any(row.order for row in rows):
        columns["order"] = partial(_field, name="order")
    for name in sorted({score.name for row in rows for score in row.scores}):
        columns[f"score:{name}"] = partial(_score, name=name)
    for name in sorted({name for row in rows for name in row.groups}):
        columns[f"group:{name}"] = partial(_group, name=name)
    return columns


def csv_lines(rows: Sequence[Row], whole: Whole = as_it_is) -> Iterator[str]:
    """Yield the rows as CSV that is safe to open (see `csv_line`).

    Args:
        rows: the rows; they are yielded in the order of their keys.
        whole: adds the texts that a row lacks in memory.
    """
    columns = columns_of(rows)
    yield csv_line(columns)
    for row in sorted(rows, key=lambda row: row.key):
        complete = whole(row)
        yield csv_line(column(complete) for column in columns.values())


def write_parquet(rows: Sequence[Row], path: Path) -> None:
    """Write the rows as Parquet, with whole texts; UsageError without pyarrow, or on failure."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra, and heavy
        from pyarrow import parquet  # noqa: PLC0415 - as above
    except ImportError as error:
        msg = (
            f"{path}: writing Parquet needs pyarrow; "
            "install it with: pip install 'pytest-llmeval-suite[hub]'"
        )
        raise UsageError(msg) from error
    ordered = sorted(rows, key=lambda row: row.key)
    columns = {name: _encodable(map(of, ordered)) for name, of in columns_of(rows).items()}
    try:
        parquet.write_table(pa.table(columns), path)
    except OSError as error:
        msg = f"{path}: cannot be written: {error.strerror or error}"
        raise UsageError(msg) from error


_FIELDS: Final = (
    "test",
    "task",
    "sample",
    "model",
    "epoch",
    "outcome",
    "answer",
    "target",
    "explanation",
    "tags",
    "stop_reason",
    "input_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "output_tokens",
    "cost",
    "seconds",
    "cached",
    "age",
    "recorded",
    "reports",
    "engine",
)
"""The columns that every run has: those of the row's key first."""


def _field(row: Row, name: str) -> Value:
    if name == "tags":
        return "; ".join(row.tags)
    if name == "target":
        return row.target_text
    for source in (row, row.usage):
        if hasattr(source, name):
            value: Value = getattr(source, name)
            return value
    raise KeyError(name)


def _score(row: Row, name: str) -> float | None:
    """Return the last score of a name, as everywhere."""
    return next((score.value for score in reversed(row.scores) if score.name == name), None)


def _group(row: Row, name: str) -> str:
    return "; ".join(row.groups.get(name, ()))


def _encodable(values: Iterable[Value]) -> list[Value]:
    """Return the values with halves of surrogate pairs, which no UTF-8 file holds, as escapes."""
    return [
        value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
        for value in values
    ]
