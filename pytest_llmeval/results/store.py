"""The folder of a run: written while it runs, readable at any moment, also after a kill."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.lock import FolderLock
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import Json, Row, RowKey, Transcript
from pytest_llmeval.results.metrics import latest
from pytest_llmeval.results.summary import Summary

SCHEMA = 1
"""Version of the run's files; it stands in run.json."""

RUN, ROWS, TRANSCRIPTS = "run.json", "rows.jsonl", "transcripts.jsonl"
SUMMARY, SUMMARY_TEXT, LATEST = "summary.json", "summary.md", "latest"


@dataclass(frozen=True, slots=True)
class RunFiles:
    """Replaces files of a run's folder as a whole; secrets are blotted out on their way in."""

    path: Path
    redactor: Redactor

    def text(self, name: str, text: str) -> None:
        """Replace a text."""
        write_atomically(self.path / name, self.redactor.text(text))

    def json(self, name: str, data: Json) -> None:
        """Replace a file of one JSON value."""
        write_atomically(
            self.path / name, json.dumps(self.redactor.json(data), indent=2, allow_nan=False) + "\n"
        )


class RunFolder:
    """Writes one run's files; secrets are blotted out on their way in.

    One writer, in one process, which has the folder's lock. A row counts from the moment `add_row`
    returns (it is with the operating system then, so that killing this process does not lose it).
    """

    def __init__(self, path: Path, redactor: Redactor, lock: FolderLock | None = None) -> None:
        """Continue the run in an existing folder, with its `lock` if one has it; `create` makes a new one."""
        self.path = path
        self.files = RunFiles(path, redactor)
        self._lock = FolderLock(path) if lock is None else lock
        self._rows = _open_lines(path / ROWS)
        self._transcripts = _open_lines(path / TRANSCRIPTS)

    @classmethod
    def create(
        cls,
        reports: Path,
        info: Mapping[str, Json],
        *,
        redactor: Redactor,
        started: datetime | None = None,
    ) -> RunFolder:
        """Make the folder ``<UTC time>-<short hash>`` in `reports` and point ``reports/latest`` at it.

        `info` (settings, versions, git state) goes into its run.json. UsageError when the folder
        cannot be made.
        """
        moment = (started or datetime.now(UTC)).astimezone(UTC)
        seed = f"{moment.isoformat()} {os.getpid()} {json.dumps(dict(info), sort_keys=True)}"
        name = f"{moment:%Y%m%dT%H%M%SZ}-{hashlib.sha256(seed.encode()).hexdigest()[:7]}"
        path = reports / name
        try:
            path.mkdir(parents=True)
            folder = cls(path, redactor)
            folder.write_run({"started": moment.isoformat(), **info})
            _point_at(reports / LATEST, name)
        except OSError as error:
            msg = f"cannot make the run's folder {path}: {error.strerror or error}; choose another --llmeval-report"
            raise UsageError(msg) from error
        return folder

    @classmethod
    def resume(
        cls, run: StoredRun, info: Mapping[str, Json], *, redactor: Redactor, lock: FolderLock
    ) -> RunFolder:
        """Open the folder of `run`, whose `lock` one has, to go on in; `info` joins run.json under ``resumed``.

        UsageError when the folder cannot be written.
        """
        session = {"started": datetime.now(UTC).isoformat(), **info}
        try:
            folder = cls(run.path, redactor, lock)
            folder.write_run(
                {**run.info, "resumed": [*cast("list[Json]", run.info.get("resumed", [])), session]}
            )
        except OSError as error:
            msg = f"cannot go on in the run's folder {run.path}: {error.strerror or error}"
            raise UsageError(msg) from error
        return folder

    def write_run(self, info: Mapping[str, Json]) -> None:
        """Replace run.json."""
        self.files.json(RUN, {"schema": SCHEMA, **info})

    def add_row(self, row: Row) -> None:
        """Append a row; when read, a later one takes the place of an earlier one under the same key."""
        self._append(self._rows, row.to_json())

    def add_transcript(self, key: RowKey, transcript: Transcript) -> None:
        """Append what happened for one row."""
        self._append(
            self._transcripts,
            {**cast("dict[str, Json]", key._asdict()), "events": transcript.to_json()},
        )

    def close(self) -> None:
        """Close the files."""
        self._rows.close()
        self._transcripts.close()
        self._lock.release()

    def _append(self, file: BinaryIO, data: Json) -> None:
        file.write(_line(self.files.redactor.json(data)))
        file.flush()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run as read back. `remarks` tell what was wrong with its files and did not matter."""

    path: Path
    info: Mapping[str, Json]
    rows: tuple[Row, ...]
    remarks: tuple[str, ...] = ()

    @property
    def started(self) -> float:
        """When the run began, in seconds since 1970."""
        return datetime.fromisoformat(str(self.info["started"])).timestamp()


def read_run(path: Path) -> StoredRun:
    """Return a finished or killed run from its folder, or from ``latest``; UsageError when there is none."""
    folder = find_run(path)
    info = read_info(folder)
    remarks: list[str] = []
    common = _Common()
    rows = latest(
        common.of(_read_as(folder / ROWS, number, data))
        for number, data in _lines(folder / ROWS, remarks)
    )
    return StoredRun(path=folder, info=info, rows=rows, remarks=tuple(remarks))


def read_info(path: Path) -> dict[str, Json]:
    """Return the facts of a run that its rows do not hold (its run.json); UsageError when there are none."""
    file = find_run(path) / RUN
    info = read_json(file)
    if info.get("schema") != SCHEMA:
        msg = f"{file}: schema {info.get('schema')!r}; this version reads {SCHEMA}"
        raise UsageError(msg)
    return info


def read_transcripts(path: Path) -> Iterator[tuple[RowKey, Transcript]]:
    """Yield each row's transcript in the order of writing; of several under one key the last counts."""
    for _, data in _lines(find_run(path) / TRANSCRIPTS, []):
        key = {field: data[field] for field in RowKey._fields}
        yield (
            RowKey(**cast("dict[str, Any]", key)),
            Transcript.from_json(cast("list[dict[str, Json]]", data["events"])),
        )


def read_summary(path: Path) -> Summary:
    """Return the summary of a finished run's folder, or of a summary.json."""
    return Summary.from_json(
        read_json(path if path.suffix == ".json" else find_run(path) / SUMMARY)
    )


def find_run(path: Path) -> Path:
    """Return the folder of the run at `path`: a run's folder, ``latest``, or a folder of runs with a ``latest``."""
    for place in (path, path / LATEST):
        pointer = place.name == LATEST and place.is_file()
        folder = place.parent / place.read_text(encoding="utf-8").strip() if pointer else place
        if (folder / RUN).is_file():
            return folder.resolve()
    msg = f"{path}: no run here (a run's folder holds {RUN}); name a folder of reports/"
    raise UsageError(msg)


def read_json(path: Path) -> dict[str, Json]:
    """Return the JSON object in a file; UsageError names the file when it holds none."""
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror or error}"
        raise UsageError(msg) from error
    except ValueError as error:
        msg = f"{path}: not JSON: {error}"
        raise UsageError(msg) from error
    if not isinstance(data, dict):
        msg = f"{path}: holds no JSON object"
        raise UsageError(msg)
    return data


def write_atomically(path: Path, text: str) -> None:
    """Replace a file so that a reader sees the old or the new text, never a part."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
            file.flush()
            # The name must not reach the disk before the text: a power cut would leave an empty
            # file.
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _line(data: Json) -> bytes:
    """Return one line of JSON: ASCII only, so that no U+2028 or lone surrogate in a model's text can break it."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


def _open_lines(path: Path) -> BinaryIO:
    """Open for appending, behind the last whole line: a kill may have left a part of one."""
    file = path.open("ab")
    with path.open("rb") as reader:
        file.truncate(sum(len(line) for line in reader if line.endswith(b"\n")))
    return file


def _lines(path: Path, remarks: list[str]) -> Iterator[tuple[int, dict[str, Json]]]:
    """Yield the number and object of each line; a last line without its end is left out and remarked on."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                remarks.append(
                    f"{path.name}: line {number} was cut off when the run was killed, and is left out"
                )
                return
            try:
                yield number, cast("dict[str, Json]", json.loads(line.decode()))
            except ValueError as error:
                msg = f"{path}:{number}: not JSON: {error}"
                raise UsageError(msg) from error


def _read_as(path: Path, number: int, data: dict[str, Json]) -> Row:
    try:
        return Row.from_json(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        msg = f"{path}:{number}: not a row: {type(error).__name__}: {error}"
        raise UsageError(msg) from error


class _Common:
    """Lets rows hold once what they have in common: most of what a row that never ran consists of."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}

    def of(self, row: Row) -> Row:
        """Return the row with the first object that was equal to each of its own."""
        first = self._known.setdefault
        versions, groups = (
            first(f"versions {row.versions}", row.versions),
            first(f"groups {row.groups}", row.groups),
        )
        return replace(
            row, versions=versions, groups=groups, usage=first(f"{row.usage}", row.usage)
        )


def _point_at(pointer: Path, name: str) -> None:
    """Make `pointer` a link to its neighbour `name`, or a text file with the name where links are not to be had."""
    temporary = pointer.with_name(f".{pointer.name}.{os.getpid()}")
    try:
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(name, target_is_directory=True)
        temporary.replace(pointer)
    except OSError:
        temporary.unlink(missing_ok=True)
        write_atomically(pointer, name + "\n")
