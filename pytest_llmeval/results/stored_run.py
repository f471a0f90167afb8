"""Reading the folder of a run, at any moment, also after a kill."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Final, cast

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.json_file import read_json, record_in
from pytest_llmeval.files.json_lines import read_lines, read_records
from pytest_llmeval.records import Json, Row, RowKey, Transcript
from pytest_llmeval.results.row_texts import Kept, Whole, as_it_is
from pytest_llmeval.results.rows import latest
from pytest_llmeval.results.run_files import LATEST, ROWS, RUN, SCHEMA, SUMMARY, TRANSCRIPTS
from pytest_llmeval.results.shared_parts import SharedParts
from pytest_llmeval.results.summary import Summary
from pytest_llmeval.results.transcript_line import TranscriptLine
from pytest_llmeval.safety.regular_files import read_regular


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run as it was read.

    Attributes:
        path: its folder.
        info: its run.json.
        rows: its rows, the last one of each key.
        remarks: sentences about parts of its files that were left out.
        superseded: lines of its rows that a later one under the same key replaced.
        whole: adds to one of its rows the texts that are not in memory.
    """

    path: Path
    info: Mapping[str, Json]
    rows: tuple[Row, ...]
    remarks: tuple[str, ...] = ()
    superseded: int = 0
    whole: Whole = as_it_is

    @property
    def planned(self) -> int:
        """The number of rows that it would have if all its sessions had ended."""
        resumed = cast("list[dict[str, Json]]", self.info.get("resumed", []))
        counts = (cast("int", session.get("planned", 0)) for session in (self.info, *resumed))
        return max(len(self.rows), *counts)

    @property
    def missing(self) -> int:
        """The number of planned samples without a row: more than 0 if the run was killed."""
        return self.planned - len(self.rows)

    @property
    def started(self) -> float:
        """When the run began, in seconds since 1970."""
        return datetime.fromisoformat(str(self.info["started"])).timestamp()


def read_run(path: Path, kept: Kept = as_it_is) -> StoredRun:
    """Return a finished or killed run from its folder, or from ``latest``.

    Args:
        path: the folder.
        kept: returns what of each row is kept in memory, such as `row_texts.lean`.

    Raises:
        UsageError: there is none, or a line of its rows is wrong (the message names it).
    """
    folder = find_run(path)
    info = read_info(folder)
    remarks: list[str] = []
    shared = SharedParts()
    counted = count(1)
    rows = latest(
        shared.within(kept(_row(folder / ROWS, next(counted), data)))
        for _, data in read_lines(folder / ROWS, remarks)
    )
    return StoredRun(
        path=folder,
        info=info,
        rows=rows,
        remarks=tuple(remarks),
        superseded=next(counted) - 1 - len(rows),
    )


def read_info(path: Path) -> dict[str, Json]:
    """Return the facts of a run that its rows do not hold: its run.json.

    UsageError when there is none, or it is of another schema.
    """
    file = find_run(path) / RUN
    info = read_json(file)
    if info.get("schema") != SCHEMA:
        msg = f"{file}: schema {info.get('schema')!r}; this version reads {SCHEMA}"
        raise UsageError(msg)
    return info


def read_transcripts(path: Path) -> Iterator[tuple[RowKey, Transcript]]:
    """Yield each row's transcript in the order of writing; under one key the last counts."""
    for line in read_records(find_run(path) / TRANSCRIPTS, TranscriptLine):
        yield line.key, Transcript(events=line.events)


def read_summary(path: Path) -> Summary:
    """Return the summary of a finished run's folder, or of a summary.json."""
    file = path if path.suffix == ".json" else find_run(path) / SUMMARY
    return record_in(file, Summary, read_json(file))


_MAX_NAME: Final = 1_000
"""Bytes at most of the file that names the latest run."""


def find_run(path: Path) -> Path:
    """Return the folder of the run at `path`.

    `path` is a run's folder, ``latest``, or a folder of runs with a ``latest``. UsageError if
    there is no run.
    """
    for place in (path, path / LATEST):
        pointer = place.name == LATEST and place.is_file()
        folder = (
            place.parent / read_regular(place, max_bytes=_MAX_NAME).decode().strip()
            if pointer
            else place
        )
        if (folder / RUN).is_file():
            return folder.resolve()
    msg = f"{path}: no run here (a run's folder holds {RUN}); name a folder of reports/"
    raise UsageError(msg)


def _row(path: Path, number: int, data: Json) -> Row:
    try:
        return Row.from_json(data)
    except ValueError as error:
        msg = f"{path}:{number}: not a row: {error}"
        raise UsageError(msg) from error
