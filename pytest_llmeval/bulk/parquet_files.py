"""The Parquet files of a table: where they are, and how they are opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyarrow import parquet

from pytest_llmeval.errors import UsageError

SUFFIX: Final = ".parquet"

_BUFFER: Final = 1 << 20
"""Bytes that are read ahead of each column; without it a whole row group would be."""


def open_parquet(path: Path) -> parquet.ParquetFile:
    """Open a Parquet file so that its columns are read piece by piece."""
    return parquet.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)


@contextmanager
def reading(file: Path) -> Iterator[None]:
    """Raise what reading a file in the block raises as a UsageError that names it."""
    try:
        yield
    except pa.ArrowException as error:
        msg = f"{file}: is not a Parquet file that can be read: {error}"
        raise UsageError(msg) from None
    except OSError as error:
        msg = f"{file}: cannot be read: {error.strerror or error}"
        raise UsageError(msg) from None


def parquet_files(path: Path) -> list[Path]:
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


def same_file(one: Path, other: Path) -> bool:
    """Return whether two paths lead to one file or folder."""
    return one.exists() and other.exists() and one.samefile(other)
