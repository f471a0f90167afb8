"""The rows of a dataset file, each with the place it stands at."""

from __future__ import annotations

import csv
import difflib
import io
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeAlias

from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.files.yaml import read_text, read_yaml
from pytest_llmeval.task.registry import DATASETS

MAX_YAML_BYTES = 32 * 2**20
MAX_BYTES = 2**30
"""Larger files are refused: rows are held in memory, and YAML takes fifty times as long as JSON."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row stands: line in its file if the format has lines, and number counted from 1."""

    file: Path
    line: int | None
    number: int

    def error(self, column: str | None, problem: str) -> TaskError:
        """Return the error that names this row, and the column if it is one's."""
        return TaskError(
            f"row {self.number}: {problem}", file=self.file, line=self.line, key=column
        )


Columns: TypeAlias = Mapping[str, Any]


class DatasetReader(Protocol):
    """Reads datasets that are folders of one form; found in the registry `DATASETS`."""

    def accepts(self, folder: Path) -> bool:
        """Return whether the folder has this form."""
        ...

    def files(self, folder: Path) -> list[Path]:
        """Return the files that hold the rows, in order; their bytes identify the dataset."""
        ...

    def rows(self, folder: Path) -> Iterator[tuple[Place, Columns]]:
        """Yield the rows in order; TaskError for what is wrong with one."""
        ...


def folder_reader(folder: Path) -> DatasetReader:
    """Return the first reader that accepts a dataset's folder; TaskError when none does."""
    for name in DATASETS.names:
        reader: DatasetReader = DATASETS.load(name, folder)()
        if reader.accepts(folder):
            return reader
    problem = f"is a folder that no dataset reader accepts (readers: {', '.join(DATASETS.names)})"
    raise _at(folder, None, problem)


def read_rows(file: Path, key: str | None) -> Iterator[tuple[Place, Columns]]:
    """Yield the rows of a dataset in order.

    Args:
        file: the dataset's file, or a folder that a `DatasetReader` accepts.
        key: the top-level key that holds the rows of a JSON or YAML file.

    Raises:
        TaskError: names file and line (in JSON and Parquet, the row's number) of what is wrong.
    """
    if file.is_dir():
        yield from folder_reader(file).rows(file)
        return
    suffix = file.suffix.lower()
    if key is not None and suffix not in _NESTED:
        raise _at(
            file,
            None,
            f"has no key {key!r} on top, as dataset.rows has it: only .json and .yaml files have keys",
        )
    rows = _NESTED[suffix](file, key) if suffix in _NESTED else _FLAT[suffix](file)
    for place, row in rows:
        if not isinstance(row, dict):
            raise place.error(None, f"is {_kind(row)}, not a mapping of columns")
        yield place, row


def missing(column: str, row: Iterable[str]) -> str:
    """Return the words for a column that a row does not have: the nearest it has, and all."""
    near = difflib.get_close_matches(column, row, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"there is no column {column!r}{hint} (columns: {', '.join(row)})"


def read_json(file: Path) -> Any:  # noqa: ANN401 - JSON from the outside
    """Return the value of a JSON file; TaskError also for repeated keys and for NaN."""
    return _json(read_text(file, max_bytes=MAX_BYTES), file, 1)


def _yaml_rows(file: Path, key: str | None) -> Iterator[tuple[Place, Any]]:
    document = read_yaml(file, max_bytes=MAX_YAML_BYTES)
    path = () if key is None else (key,)
    for index, row in enumerate(_listed(document.value, key, file)):
        yield Place(file, document.line((*path, index)), index + 1), row


def _json_rows(file: Path, key: str | None) -> Iterator[tuple[Place, Any]]:
    value = read_json(file)
    for number, row in enumerate(_listed(value, key, file), 1):
        yield Place(file, None, number), row


def _jsonl_rows(file: Path) -> Iterator[tuple[Place, Any]]:
    number = 0
    # Not splitlines: JSON strings may hold U+2028 and its like.
    for line, text in enumerate(read_text(file, max_bytes=MAX_BYTES).split("\n"), 1):
        if text.strip():
            number += 1
            yield Place(file, line, number), _json(text, file, line)


def _csv_rows(file: Path) -> Iterator[tuple[Place, Any]]:
    reader = csv.reader(io.StringIO(read_text(file, max_bytes=MAX_BYTES), newline=""), strict=True)
    try:
        header = next(reader, [])
        if repeated := next((name for name in header if header.count(name) > 1), None):
            raise _at(file, 1, f"the column {repeated!r} stands twice in the header")
        first, number = reader.line_num + 1, 0
        for cells in reader:
            if cells:
                number += 1
                place = Place(file, first, number)
                if len(cells) != len(header):
                    raise place.error(
                        None, f"has {len(cells)} cells where the header has {len(header)}"
                    )
                yield place, dict(zip(header, cells, strict=True))
            first = reader.line_num + 1
    except csv.Error as error:
        raise _at(file, reader.line_num, f"is no CSV: {error}") from None


def _parquet_rows(file: Path) -> Iterator[tuple[Place, Any]]:
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415 - an extra, and heavy
    except ImportError:
        msg = f"{file}: reading Parquet needs pyarrow; install it with: pip install 'pytest-llmeval-suite[hub]'"
        raise UsageError(msg) from None
    try:
        with file.open("rb") as source:
            rows = parquet.read_table(source).to_pylist()
    except OSError as error:
        raise _at(file, None, f"cannot be read: {error.strerror}") from None
    except ArrowException as error:
        raise _at(file, None, f"is no Parquet file: {error}") from None
    for number, row in enumerate(rows, 1):
        yield Place(file, None, number), row


_NESTED: Mapping[str, Callable[[Path, str | None], Iterator[tuple[Place, Any]]]] = {
    ".yaml": _yaml_rows,
    ".yml": _yaml_rows,
    ".json": _json_rows,
}
_FLAT: Mapping[str, Callable[[Path], Iterator[tuple[Place, Any]]]] = {
    ".jsonl": _jsonl_rows,
    ".csv": _csv_rows,
    ".parquet": _parquet_rows,
}


def _listed(value: object, key: str | None, file: Path) -> list[Any]:
    """Return the list of rows in a parsed document."""
    if key is None and isinstance(value, list):
        return value
    if not isinstance(value, dict):
        raise _at(
            file,
            None,
            f"is {_kind(value)}; rows are a list" + ("" if key is None else f" under {key!r}"),
        )
    lists = sorted(name for name, rows in value.items() if isinstance(rows, list))
    if key is None:
        raise _at(
            file,
            None,
            f"is a mapping; name the key with the list as dataset.rows (lists here: {lists})",
        )
    if key not in lists:
        raise _at(file, None, f"has no list under {key!r} (lists here: {lists})")
    rows: list[Any] = value[key]
    return rows


def _json(text: str, file: Path, line: int) -> Any:  # noqa: ANN401 - JSON from the outside
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise _at(
            file, line + error.lineno - 1, f"is no JSON: {error.msg} in column {error.colno}"
        ) from None
    except (ValueError, RecursionError) as error:
        problem = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        # Only a line of its own tells where; the hooks do not know.
        raise _at(
            file, line if "\n" not in text.strip() else None, f"is no JSON: {problem}"
        ) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        repeated, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        msg = f"the key {repeated!r} stands twice in one object"
        raise ValueError(msg)
    return result


def _no_number(name: str) -> NoReturn:
    msg = f"{name} is no JSON number"
    raise ValueError(msg)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        msg = f"the number {text[:40]} is too large"
        raise ValueError(msg)
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_no_number, parse_float=_finite
)


def _kind(value: object) -> str:
    return "empty" if value is None else f"a {type(value).__name__}"


def _at(file: Path, line: int | None, problem: str) -> TaskError:
    return TaskError(problem, file=file, line=line)
