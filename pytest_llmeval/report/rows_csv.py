"""The rows of a run for spreadsheets and data frames: ``rows.csv`` and ``rows.parquet``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Row
from pytest_llmeval.report.csv_line import Value, csv_line
from pytest_llmeval.results.flat_row import GROUP, SCORE, flat_row
from pytest_llmeval.results.row_texts import Whole, as_it_is


def column_names(rows: Iterable[Row]) -> list[str]:
    """Return the headings of the columns: those of `flat_row` that a spreadsheet shows.

    ``order`` is that of the choices, where there are some.
    """
    ordered, scores, groups = False, set[str](), set[str]()
    for row in rows:
        ordered = ordered or bool(row.order)
        scores.update(f"{SCORE}{score.name}" for score in row.scores)
        groups.update(f"{GROUP}{name}" for name in row.groups)
    return [*_FIELDS, *(["order"] if ordered else []), *sorted(scores), *sorted(groups)]


def cells_of(row: Row, names: Iterable[str]) -> Iterator[Value]:
    """Yield what stands in the columns `names` of a row; several values are joined by semicolons.

    A row that has no such group has "" there.
    """
    flat = flat_row(row)
    for name in names:
        value = flat.get(name, "" if name.startswith(GROUP) else None)
        yield "; ".join(value) if isinstance(value, tuple) else value


def csv_lines(rows: Sequence[Row], whole: Whole = as_it_is) -> Iterator[str]:
    """Yield the rows as CSV that is safe to open (see `csv_line`).

    Args:
        rows: the rows; they are yielded in the order of their keys.
        whole: adds the texts that a row lacks in memory.
    """
    names = column_names(rows)
    yield csv_line(names)
    for row in sorted(rows, key=lambda row: row.key):
        yield csv_line(cells_of(whole(row), names))


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
    names = column_names(rows)
    lines = [_encodable(cells_of(row, names)) for row in sorted(rows, key=lambda row: row.key)]
    columns = {name: [line[place] for line in lines] for place, name in enumerate(names)}
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
    "requests",
    "batched",
)
"""The columns that every run has: those of the row's key first."""


def _encodable(values: Iterable[Value]) -> list[Value]:
    """Return the values with halves of surrogate pairs, which no UTF-8 file holds, as escapes."""
    return [
        value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
        for value in values
    ]
