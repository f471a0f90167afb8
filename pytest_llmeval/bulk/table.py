"""The table whose answers are scored: a Parquet file, or a folder of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from pytest_llmeval.bulk.parquet_files import open_parquet, parquet_files, reading
from pytest_llmeval.errors import UsageError
from pytest_llmeval.safety.regular_files import check_regular, open_regular


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
        for file in parquet_files(path):
            with reading(file):
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
            with reading(file.path), open_regular(file.path) as stream:
                found[file.path.name] = hashlib.file_digest(stream, "sha256").hexdigest()
        return found

    def check_unchanged(self) -> None:
        """Raise UsageError if a file has changed since the table was opened."""
        for file in self.files:
            with reading(file.path):
                now = file.path.stat()
            if (now.st_size, now.st_mtime_ns) != (file.size, file.changed):
                msg = (
                    f"{file.path}: has changed while it was scored; "
                    "score it again when nothing writes into it any more"
                )
                raise UsageError(msg)


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
