"""The folder ``OUT.parts``: the scores of those parts of a table that are done."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa
from pyarrow import parquet

from pytest_llmeval.bulk.manifest import Manifest
from pytest_llmeval.bulk.parquet_files import open_parquet
from pytest_llmeval.errors import RunStopped, UsageError
from pytest_llmeval.files.atomic import replacing, write_atomically
from pytest_llmeval.files.json_file import read_json, record_in
from pytest_llmeval.files.json_lines import json_line
from pytest_llmeval.files.lock import FolderLock
from pytest_llmeval.safety.regular_files import check_regular

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Part:
    """Consecutive rows of a table, which are scored and stored together.

    Attributes:
        number: from 0.
        first: number of its first row in the table, from 0.
        rows: number of rows.
    """

    number: int
    first: int
    rows: int

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"part-{self.number:07}.parquet"


def begun_part_rows(path: Path) -> int | None:
    """Return the rows of a part in a folder of parts that was begun; None if none was."""
    file = path / MANIFEST
    return record_in(file, Manifest, read_json(file)).part_rows if file.exists() else None


def parts_of(rows: int, part_rows: int) -> Iterator[Part]:
    """Yield the parts of a table with `rows` rows."""
    for number, first in enumerate(range(0, rows, part_rows)):
        yield Part(number, first, min(part_rows, rows - first))


class PartFolder:
    """The folder of parts of one table and job, locked while it is open.

    A part is there as a whole or not at all, however the process ends.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        """Begin a folder, or go on with one that was begun with an equal manifest.

        Raises:
            UsageError: the folder holds other things, parts of another job, or is in use; or it
                cannot be written.
        """
        self.path, self.manifest = path, manifest
        with writing(path):
            path.mkdir(exist_ok=True)
        self._lock = FolderLock(path, "process writes its parts here")
        try:
            self._check()
            with writing(path):
                for left_over in path.glob(".*"):
                    left_over.unlink()
                write_atomically(path / MANIFEST, json_line(manifest.to_json()) + "\n")
        except BaseException:
            self._lock.release()
            raise

    def todo(self) -> list[Part]:
        """Return the parts that are not there, in order."""
        parts = parts_of(self.manifest.rows, self.manifest.part_rows)
        return [part for part in parts if not self._is_there(part)]

    def write(self, part: Part, scores: pa.Table) -> None:
        """Store the scores of a part; RunStopped if that fails."""
        with writing(self.path), replacing(self.path / part.name) as file:
            parquet.write_table(scores, file)

    def read(self, part: Part) -> pa.Table:
        """Return the scores of a part that is there."""
        return open_parquet(self.path / part.name).read(use_threads=False)

    def remove(self) -> None:
        """Remove the folder, the manifest last: until then the folder is known as one of parts."""
        with writing(self.path):
            for file in sorted(self.path.iterdir()):
                if file.name != MANIFEST:
                    file.unlink()
            shutil.rmtree(self.path)

    def __enter__(self) -> Self:
        """Return the folder."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Release the lock."""
        self._lock.release()

    def _check(self) -> None:
        """Raise UsageError unless the folder is new, or was begun with an equal manifest."""
        file = self.path / MANIFEST
        if not file.exists():
            if foreign := next((one for one in self.path.glob("[!.]*")), None):
                msg = (
                    f"{self.path}: holds {foreign.name!r} and no {MANIFEST}, so its files are not "
                    "parts of a table; move it away, or name another --out"
                )
                raise UsageError(msg)
            return
        begun = record_in(file, Manifest, read_json(file))
        if difference := begun.difference(self.manifest):
            msg = (
                f"{self.path}: was begun with another table or job; different is {difference}. "
                "Delete the folder to score all rows anew, or name another --out"
            )
            raise UsageError(msg)

    def _is_there(self, part: Part) -> bool:
        """Return whether a part is there with all its rows; a power failure may have cut it."""
        file = self.path / part.name
        try:
            check_regular(file)
            return int(open_parquet(file).metadata.num_rows) == part.rows
        except (OSError, pa.ArrowException):
            return False


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise what fails in the block as one error that says how to go on."""
    try:
        yield
    except OSError as error:
        msg = (
            f"{path}: cannot be written: {error.strerror or error}; mend that (free space) and "
            "run the same command again, which goes on with the parts that are done"
        )
        raise RunStopped(msg) from error
