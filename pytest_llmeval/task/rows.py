"""The rows of a dataset, in all supported formats."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.files.yaml import read_text, read_yaml
from pytest_llmeval.safety.regular_files import check_regular
from pytest_llmeval.task.json_text import MAX_BYTES, parse_json, read_json
from pytest_llmeval.task.registry import DATASETS
from pytest_llmeval.task.row_place import Columns, RowPlace

MAX_YAML_BYTES = 32 * 2**20
"""Bytes of a YAML dataset at most: reading YAML takes about 50 times as long as JSON."""

MAX_ROWS = 10_000_000
"""Rows of a Parquet dataset at most: a repeated value takes hardly any bytes there."""


class DatasetReader(Protocol):
    """Reads datasets that are folders of one layout; named in the registry `DATASETS`."""

    def accepts(self, folder: Path) -> bool:
        """Return whether the folder has this layout."""
        ...

    def files(self, folder: Path) -> list[Path]:
        """Return the files that hold the rows, in order; their bytes identify the dataset."""
        ...

    def rows(self, folder: Path) -> Iterator[tuple[RowPlace, Columns]]:
        """Yield the rows in order; TaskError for an invalid one."""
        ...


def folder_reader(folder: Path) -> DatasetReader:
    """Return the first reader that accepts a dataset's folder; TaskError when none does."""
    for name in DATASETS.names:
        reader: DatasetReader = DATASETS.load(name, folder)()
        if reader.accepts(folder):
            return reader
    problem = f"is a folder that no dataset reader accepts (readers: {', '.join(DATASETS.names)})"
    raise TaskError(problem, file=folder)


def read_rows(
    file: Path, key: str | None, tell: Callable[[TaskError], None]
) -> Iterator[tuple[RowPlace, Columns]]:
    """Yield the rows of a dataset in order.

    Args:
        file: the dataset's file, or a folder that a `DatasetReader` accepts.
        key: the top-level key that holds the rows of a JSON or YAML file.
        tell: called with the error of a row that is left out: it is not a mapping, or its line is
            not JSON.

    Raises:
        TaskError: the file cannot be read; with file and line (in JSON and Parquet with the row's
            number).
        UsageError: the format needs a package that is not installed.
    """
    if file.is_dir():
        yield from folder_reader(file).rows(file)
        return
    suffix = file.suffix.lower()
    if key is not None and suffix not in _NESTED:
        problem = (
            f"has no top-level key {key!r}, which dataset.rows names: "
            "only .json and .yaml files have keys"
        )
        raise TaskError(problem, file=file)
    rows = _NESTED[suffix](file, key) if suffix in _NESTED else _FLAT[suffix](file)
    for place, row in rows:
        if isinstance(row, dict):
            yield place, row
        elif isinstance(row, TaskError):
            tell(row)
        else:
            tell(place.error(None, f"is {_kind(row)}, not a mapping of columns"))


def _yaml_rows(file: Path, key: str | None) -> Iterator[tuple[RowPlace, Any]]:
    document = read_yaml(file, max_bytes=MAX_YAML_BYTES)
    path = () if key is None else (key,)
    for index, row in enumerate(_list_of_rows(document.value, key, file)):
        yield RowPlace(file, document.line((*path, index)), index + 1), row


def _json_rows(file: Path, key: str | None) -> Iterator[tuple[RowPlace, Any]]:
    for number, row in enumerate(_list_of_rows(read_json(file), key, file), 1):
        yield RowPlace(file, None, number), row


def _jsonl_rows(file: Path) -> Iterator[tuple[RowPlace, Any]]:
    number = 0
    # Not splitlines: it also splits at U+2028 and others, which JSON strings may contain.
    for line, text in enumerate(read_text(file, max_bytes=MAX_BYTES).split("\n"), 1):
        if text.strip():
            number += 1
            yield RowPlace(file, line, number), _json_row(text, file, line)


def _json_row(text: str, file: Path, line: int) -> Any:  # noqa: ANN401 - JSON
    """Return the value of one line, or its error: lines are independent of each other."""
    try:
        return parse_json(text, file, line)
    except TaskError as error:
        return error


def _csv_rows(file: Path) -> Iterator[tuple[RowPlace, Any]]:
    reader = csv.reader(io.StringIO(read_text(file, max_bytes=MAX_BYTES), newline=""), strict=True)
    try:
        header = next(reader, [])
        if repeated := next((name for name in header if header.count(name) > 1), None):
            problem = f"the column {repeated!r} is repeated in the header"
            raise TaskError(problem, file=file, line=1)
        first, number = reader.line_num + 1, 0
        for cells in reader:
            if cells:
                number += 1
                place = RowPlace(file, first, number)
                if len(cells) == len(header):
                    yield place, dict(zip(header, cells, strict=True))
                else:
                    problem = f"has {len(cells)} cells where the header has {len(header)}"
                    yield place, place.error(None, problem)
            first = reader.line_num + 1
    except csv.Error as error:
        problem = f"is not CSV: {error}"
        raise TaskError(problem, file=file, line=reader.line_num) from None


def _parquet_rows(file: Path) -> Iterator[tuple[RowPlace, Any]]:
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415 - an extra, and heavy
    except ImportError:
        msg = (
            f"{file}: reading Parquet needs pyarrow; "
            "install it with: pip install 'pytest-llmeval-suite[hub]'"
        )
        raise UsageError(msg) from None
    try:
        check_regular(file, max_bytes=MAX_BYTES)
        with file.open("rb") as source:
            opened = parquet.ParquetFile(source)
            _check_size(opened.metadata, file)
            rows = opened.read().to_pylist()
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
        raise TaskError(problem, file=file) from None
    except ArrowException as error:
        problem = f"is not a Parquet file: {error}"
        raise TaskError(problem, file=file) from None
    for number, row in enumerate(rows, 1):
        yield RowPlace(file, None, number), row


def _check_size(metadata: Any, file: Path) -> None:  # noqa: ANN401 - pyarrow has no types
    """Refuse a Parquet file that says itself that it unpacks to more than can be held."""
    groups = range(metadata.num_row_groups)
    size = sum(metadata.row_group(index).total_byte_size for index in groups)
    if size > MAX_BYTES or metadata.num_rows > MAX_ROWS:
        problem = (
            f"has {metadata.num_rows:,} rows of {size:,} bytes unpacked; "
            f"at most {MAX_ROWS:,} rows and {MAX_BYTES:,} bytes are read"
        )
        raise TaskError(problem, file=file)


_NESTED: Mapping[str, Callable[[Path, str | None], Iterator[tuple[RowPlace, Any]]]] = {
    ".yaml": _yaml_rows,
    ".yml": _yaml_rows,
    ".json": _json_rows,
}
"""Readers of the formats whose rows may stand under a key."""

_FLAT: Mapping[str, Callable[[Path], Iterator[tuple[RowPlace, Any]]]] = {
    ".jsonl": _jsonl_rows,
    ".csv": _csv_rows,
    ".parquet": _parquet_rows,
}
"""Readers of the formats that hold nothing but rows."""


def _list_of_rows(value: object, key: str | None, file: Path) -> list[Any]:
    """Return the list of rows in a parsed document; TaskError when there is none."""
    if key is None and isinstance(value, list):
        return value
    if not isinstance(value, dict):
        under = "" if key is None else f" under {key!r}"
        problem = f"is {_kind(value)}; rows are a list{under}"
        raise TaskError(problem, file=file)
    lists = sorted(name for name, rows in value.items() if isinstance(rows, list))
    if key is None:
        problem = f"is a mapping; name the key with the list as dataset.rows (lists here: {lists})"
        raise TaskError(problem, file=file)
    if key not in lists:
        problem = f"has no list under {key!r} (lists here: {lists})"
        raise TaskError(problem, file=file)
    rows: list[Any] = value[key]
    return rows


def _kind(value: object) -> str:
    return "empty" if value is None else f"a {type(value).__name__}"
