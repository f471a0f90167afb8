"""Scores a whole table: checks, parts, progress, the output."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import pyarrow as pa

from pytest_llmeval.bulk.fields import Fields, read_fields
from pytest_llmeval.bulk.job import Job
from pytest_llmeval.bulk.joining import is_output, join
from pytest_llmeval.bulk.local import PartsToScore
from pytest_llmeval.bulk.manifest import Manifest
from pytest_llmeval.bulk.parquet_files import SUFFIX, same_file
from pytest_llmeval.bulk.part_folder import Part, PartFolder, begun_part_rows, parts_of
from pytest_llmeval.bulk.score_columns import check_new
from pytest_llmeval.bulk.table import Table
from pytest_llmeval.bulk.tally import Tally
from pytest_llmeval.errors import UsageError
from pytest_llmeval.report.progress_line import Progress

PART_ROWS: Final = 2_000
"""Rows of a part, unless the user or a begun folder says otherwise."""

ScoreParts: TypeAlias = Callable[
    [PartsToScore, Callable[[int], None]], Iterator[tuple[Part, pa.Table]]
]
"""Scores parts, on this machine or another; see `bulk.local.scored_here`."""


@dataclass(frozen=True, slots=True)
class BulkRun:
    """A table to score.

    Attributes:
        table: the table.
        fields: its columns.
        job: what is computed.
        out: the file to write.
        part_rows: rows of a part; None: those of the folder that was begun, else `PART_ROWS`.
    """

    table: Table
    fields: Fields
    job: Job
    out: Path
    part_rows: int | None = None

    @classmethod
    def open(
        cls, source: Path, fields: Sequence[str], job: Job, out: Path, part_rows: int | None
    ) -> BulkRun:
        """Check what is wanted, before a row is read.

        Raises:
            UsageError: the table, a column or the output cannot be used.
        """
        _check_out(source, out)
        table = Table.open(source)
        run = cls(table, read_fields(fields, table.schema), job, out, part_rows)
        check_new(run.names, table.schema)
        return run

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the scores, the deciding one first."""
        return PartsToScore(self.table, self.fields, self.job, ()).names

    @property
    def parts_path(self) -> Path:
        """The folder of parts."""
        return self.out.with_name(f"{self.out.name}.parts")

    def score(
        self, score_parts: ScoreParts, show: Callable[[Progress], None]
    ) -> dict[str, Tally] | None:
        """Score all rows that are not scored, write the output, and return the counts by score.

        None means that the output is there already, from the same table and job.

        Args:
            score_parts: scores parts, here or on a cluster.
            show: shows how far it is, called often.

        Raises:
            UsageError: the output exists and is another one; the parts are of another job; the
                table has changed or cannot be read; a child does not start.
            RunStopped: parts or output cannot be written; calling this again goes on.
        """
        manifest = Manifest.of(self.table, self.fields, self.job, self._part_rows())
        if self.out.exists():
            if not is_output(self.out, manifest.digest):
                msg = f"{self.out}: exists already; delete it, or name another --out"
                raise UsageError(msg)
            if self.parts_path.exists():  # an earlier process ended while it removed them
                with PartFolder(self.parts_path, manifest) as folder:
                    folder.remove()
            return None
        with PartFolder(self.parts_path, manifest) as folder:
            tallies = self._scored(folder, score_parts, show)
            self.table.check_unchanged()
            join(self.table, folder, self.names, self.out)
            folder.remove()
        return tallies

    def _scored(
        self, folder: PartFolder, score_parts: ScoreParts, show: Callable[[Progress], None]
    ) -> dict[str, Tally]:
        tallies = {name: Tally() for name in self.names}

        def count(scores: pa.Table) -> None:
            for name, tally in tallies.items():
                tally.add(scores, name)

        todo = folder.todo()
        missing = {part.number for part in todo}
        for part in parts_of(self.table.rows, folder.manifest.part_rows):
            if part.number not in missing:
                count(folder.read(part))
        watch = _Watch(self.table.rows, tallies[self.names[0]], show)
        work = PartsToScore(self.table, self.fields, self.job, todo)
        for part, scores in score_parts(work, watch.advance) if todo else ():
            folder.write(part, scores)
            count(scores)
        return tallies

    def _part_rows(self) -> int:
        """Return the rows of a part as wanted, or of the folder that was begun."""
        return self.part_rows or begun_part_rows(self.parts_path) or PART_ROWS


def _check_out(source: Path, out: Path) -> None:
    """Raise UsageError for an output that cannot be written, or would change the input."""
    if not source.exists():
        msg = f"{source}: there is no such file or folder"
        raise UsageError(msg)
    if out.suffix.lower() != SUFFIX:
        msg = f"--out {out}: the output is a Parquet file; name it NAME{SUFFIX}"
        raise UsageError(msg)
    if same_file(source, out) or same_file(source, out.absolute().parent):
        msg = f"--out {out}: would be written over or among the input {source}; name another"
        raise UsageError(msg)
    if out.is_dir():
        msg = f"--out {out}: is a folder; name a file"
        raise UsageError(msg)
    if not out.absolute().parent.is_dir():
        msg = f"--out {out}: there is no folder {out.absolute().parent}; make it"
        raise UsageError(msg)


class _Watch:
    """Shows the progress whenever rows are scored."""

    def __init__(self, rows: int, tally: Tally, show: Callable[[Progress], None]) -> None:
        self._rows, self._tally, self._show = rows, tally, show
        self._began, self._before = time.monotonic(), tally.rows
        self._done = tally.rows
        self.advance(0)

    def advance(self, rows: int) -> None:
        """Count rows, and show how far the run is."""
        self._done += rows
        since, left = self._done - self._before, self._rows - self._done
        seconds = time.monotonic() - self._began
        progress = Progress(
            done=self._done,
            planned=self._rows,
            accuracy=self._tally.accuracy,
            errors=self._tally.errors,
            left=seconds * left / since if since else None,
        )
        self._show(progress)
