"""The table whose answers are scored: a Parquet file, or a folder of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyarrow import parquet

from pytest_llmeval.errors import UsageError
from pytest_llmeval.safety.regular_files import check_regular, open_regular

SUFFIX: Final = ".parquet"

_BUFFER: Final = 1 << 20
"""Bytes that are read ahead of each column; without it a whole row group would be."""


@dataclass(frozen=True, slots=True)
class TableFile:
    """One file of a table.

    Attributes:
        path: the file.
        size: its bytes.
        changed: when it was changed last, in nanoseconds since 1970.
        groups: the number of rows of each row group.
        bytes: of its rows, unpacked, as the file says.
    """

    path: Path
    size: int
    changed: int
    groups: tuple[int, ...]
    bytes: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(self.groups)


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of all files, in the order of the files' names.

    Attributes:
        path: the file or folder.
        files: at least one.
        schema: of each of them.
    """

    path: Path
    files: tuple[TableFile, ...]
    schema: pa.Schema

    @classmethod
    def open(cls, path: Path) -> Table:
        """Read what the files say about themselves, and no row.

        Raises:
            UsageError: it is no Parquet, or the files of a folder have different columns.
        """
        files, first = [], None
        for file in _files(path):
            with _reading(file):
                size = check_regular(file)
                opened = open_parquet(file)
                found, schema = opened.metadata, opened.schema_arrow
            first = first or (file, schema)
            _check_columns(file, schema, first)
            groups = [found.row_group(index) for index in range(found.num_row_groups)]
            files.append(
                TableFile(
                    path=file,
                    size=size,
                    changed=file.stat().st_mtime_ns,
                    groups=tuple(group.num_rows for group in groups),
                    bytes=sum(group.total_byte_size for group in groups),
                )
            )
        assert first is not None  # noqa: S101 - there is a file
        return cls(path=path, files=tuple(files), schema=first[1])

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(file.rows for file in self.files)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row on average, unpacked; at least 1."""
        return max(1, sum(file.bytes for file in self.files) // max(1, self.rows))

    def digests(self) -> dict[str, str]:
        """Return the sha256 of each file by its name, in their order."""
        found = {}
        for file in self.files:
            with _reading(file.path), open_regular(file.path) as stream:
                found[file.path.name] = hashlib.file_digest(stream, "sha256").hexdigest()
        return found

    def check_unchanged(self) -> None:
        """Raise UsageError if a file has changed since the table was opened."""
        for file in self.files:
            with _reading(file.path):
                now = file.path.stat()
            if (now.st_size, now.st_mtime_ns) != (file.size, file.changed):
                msg = (
                    f"{file.path}: has changed while it was scored; "
                    "score it again when nothing writes into it any more"
                )
                raise UsageError(msg)


class RowReader:
    """Reads ranges of rows of a table; each range costs least right behind the one before."""

    def __init__(self, table: Table, columns: list[str] | None = None) -> None:
        """Begin at the first row.

        Args:
            table: the table.
            columns: names of the columns to read; None for all.
        """
        self._table, self._columns = table, columns
        self._next = 0
        self._batches: Iterator[pa.RecordBatch] = iter(())
        self._batch: pa.RecordBatch | None = None

    def read(self, first: int, rows: int) -> pa.Table:
        """Return `rows` rows from number `first` on.

        Raises:
            UsageError: a file cannot be read.
        """
        if first < self._next or not self._is_near(first):
            self._seek(first)
        self._take(first - self._next)
        return pa.Table.from_batches(self._take(rows), schema=self._schema)

    @property
    def _schema(self) -> pa.Schema:
        schema = self._table.schema
        if self._columns is None:
            return schema
        return pa.schema([schema.field(name) for name in self._columns], schema.metadata)

    def _is_near(self, first: int) -> bool:
        """Return whether no row group begins between the reader's place and a later row."""
        return self._batch is not None and all(
            not self._next < begin <= first for begin, *_ in self._groups()
        )

    def _groups(self) -> Iterator[tuple[int, int, int]]:
        """Yield the number of the first row of each row group, its file and its index there."""
        begin = 0
        for number, file in enumerate(self._table.files):
            for index, rows in enumerate(file.groups):
                yield begin, number, index
                begin += rows

    def _seek(self, first: int) -> None:
        places = [place for place in self._groups() if place[0] <= first]
        if places:
            self._next, number, index = places[-1]
            self._batches, self._batch = self._read_from(number, index), None

    def _read_from(self, number: int, index: int) -> Iterator[pa.RecordBatch]:
        for file in self._table.files[number:]:
            with _reading(file.path):
                opened = open_parquet(file.path)
                if opened.metadata.num_rows != file.rows:
                    msg = f"{file.path}: has other rows than when the scoring began"
                    raise UsageError(msg)
                yield from opened.iter_batches(
                    batch_size=min(4_096, max(1, (4 << 20) // self._table.row_bytes)),
                    row_groups=range(index, len(file.groups)),
                    columns=self._columns,
                    use_threads=False,
                )
            index = 0

    def _take(self, rows: int) -> list[pa.RecordBatch]:
        """Return the next rows, as batches."""
        found = []
        while rows:
            if self._batch is None or not self._batch.num_rows:
                self._batch = next(self._batches).select(self._schema.names)
            piece = self._batch.slice(0, rows)
            self._batch = self._batch.slice(piece.num_rows)
            rows -= piece.num_rows
            self._next += piece.num_rows
            found.append(piece)
        return found


def open_parquet(path: Path) -> parquet.ParquetFile:
    """Open a Parquet file so that its columns are read piece by piece."""
    return parquet.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    """Raise what reading a file in the block raises as a UsageError that names it."""
    try:
        yield
    except pa.ArrowException as error:
        msg = f"{file}: is not a Parquet file that can be read: {error}"
        raise UsageError(msg) from None
    except OSError as error:
        msg = f"{file}: cannot be read: {error.strerror or error}"
        raise UsageError(msg) from None


def _files(path: Path) -> list[Path]:
    """Return the file, or those of a folder; names with ``_`` or ``.`` in front are no data."""
    if not path.is_dir():
        if path.suffix.lower() != SUFFIX:
            msg = (
                f"{path}: the answers are a Parquet file (NAME{SUFFIX}) or a folder of them; "
                "pandas or pyarrow write other tables as one"
            )
            raise UsageError(msg)
        return [path]
    entries = sorted(one for one in path.iterdir() if not one.name.startswith(("_", ".")))
    if nested := next((one for one in entries if one.is_dir()), None):
        msg = f"{path}: holds the folder {nested.name!r}; name a folder of Parquet files alone"
        raise UsageError(msg)
    files = [one for one in entries if one.suffix.lower() == SUFFIX]
    if not files:
        msg = f"{path}: is a folder without a file NAME{SUFFIX}"
        raise UsageError(msg)
    return files


def _check_columns(file: Path, schema: pa.Schema, first: tuple[Path, pa.Schema]) -> None:
    names = schema.names
    if repeated := next((name for name in names if names.count(name) > 1), None):
        msg = f"{file}: has two columns {repeated!r}; give each column its own name"
        raise UsageError(msg)
    if not schema.equals(first[1]):
        other = next((field for field in schema if field not in first[1]), None)
        what = f"the column {other.name!r} ({other.type})" if other else "fewer or moved columns"
        msg = f"{file}: has {what}, unlike {first[0].name}; all files need the same columns"
        raise UsageError(msg)


def same_file(one: Path, other: Path) -> bool:
    """Return whether two paths lead to one file or folder."""
    return one.exists() and other.exists() and one.samefile(other)
