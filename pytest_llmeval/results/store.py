"""Writing the folder of a run while it runs."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.atomic import point_at, write_atomically
from pytest_llmeval.files.json_lines import LineFile, json_line, record_line
from pytest_llmeval.files.lock import FolderLock
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import Json, Record, Row, RowKey, Transcript
from pytest_llmeval.results.questions import Question, read_questions
from pytest_llmeval.results.run_files import LATEST, ROWS, RUN, SAMPLES, SCHEMA, TRANSCRIPTS
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.results.transcript_line import TranscriptLine


@dataclass(frozen=True, slots=True)
class RunFiles:
    """Replaces files of a run's folder as a whole, with secrets blotted out."""

    path: Path
    redactor: Redactor

    def text(self, name: str, text: str) -> None:
        """Replace a text."""
        self.parts(name, (text,))

    def parts(self, name: str, parts: Iterable[str]) -> None:
        """Replace a text that comes in parts, such as lines; a secret lies within one of them."""
        write_atomically(self.path / name, map(self.redactor.text, parts))

    def json(self, name: str, data: Json) -> None:
        """Replace a file of one JSON value."""
        text = json.dumps(self.redactor.json(data), indent=2, allow_nan=False)
        write_atomically(self.path / name, (text, "\n"))

    def line(self, record: Record) -> str:
        """Return a record as a line of JSON without secrets."""
        line = record_line(record)
        if self.redactor.may_change(line):
            return json_line(self.redactor.json(record.to_json()))
        return line


class RunFolder:
    """Writes one run's files, with secrets blotted out.

    One object in one process writes, which holds the folder's lock. When `add_row` returns, the
    operating system has the row: killing this process does not lose it.
    """

    def __init__(self, path: Path, redactor: Redactor, lock: FolderLock | None = None) -> None:
        """Append to the run in an existing folder; `lock` is taken here if it is None."""
        self.path = path
        self.files = RunFiles(path, redactor)
        with ExitStack() as on_failure:
            self._lock = FolderLock(path) if lock is None else lock
            on_failure.callback(self._lock.release)
            self._rows = LineFile(path / ROWS)
            on_failure.callback(self._rows.close)
            self._transcripts = LineFile(path / TRANSCRIPTS)
            on_failure.pop_all()

    @classmethod
    def create(
        cls,
        reports: Path,
        info: Mapping[str, Json],
        *,
        redactor: Redactor,
        started: datetime | None = None,
        becomes_latest: bool = True,
    ) -> RunFolder:
        """Make the folder ``<UTC time>-<short hash>`` in `reports`; ``latest`` will point at it.

        `info` (settings, versions, git state) goes into its run.json. Where it is not to become the
        latest run, ``latest`` stays as it is. UsageError when the folder cannot be made.
        """
        moment = (started or datetime.now(UTC)).astimezone(UTC)
        seed = f"{moment.isoformat()} {os.getpid()} {json.dumps(dict(info), sort_keys=True)}"
        name = f"{moment:%Y%m%dT%H%M%SZ}-{hashlib.sha256(seed.encode()).hexdigest()[:7]}"
        path = reports / name
        try:
            path.mkdir(parents=True)
            with ExitStack() as on_failure:
                folder = cls(path, redactor)
                on_failure.callback(folder.close)
                folder.write_run({"started": moment.isoformat(), **info})
                if becomes_latest:
                    point_at(reports / LATEST, name)
                on_failure.pop_all()
        except OSError as error:
            msg = (
                f"cannot make the run's folder {path}: {error.strerror or error}; "
                "choose another --llmeval-report"
            )
            raise UsageError(msg) from error
        return folder

    @classmethod
    def resume(
        cls, run: StoredRun, info: Mapping[str, Json], *, redactor: Redactor, lock: FolderLock
    ) -> RunFolder:
        """Open the folder of `run` to append to it.

        `lock` is the folder's, taken before `run` was read; `info` joins run.json under
        ``resumed``. UsageError when the folder cannot be written.
        """
        session = {"started": datetime.now(UTC).isoformat(), **info}
        sessions = [*cast("list[Json]", run.info.get("resumed", [])), session]
        try:
            with ExitStack() as on_failure:
                folder = cls(run.path, redactor, lock)
                on_failure.callback(folder.close)
                folder.write_run({**run.info, "resumed": sessions})
                on_failure.pop_all()
        except OSError as error:
            msg = f"cannot go on in the run's folder {run.path}: {error.strerror or error}"
            raise UsageError(msg) from error
        return folder

    def write_run(self, info: Mapping[str, Json]) -> None:
        """Replace run.json."""
        self.files.json(RUN, {"schema": SCHEMA, **info})

    def add_row(self, row: Row) -> Row:
        """Append a row, and return it as it is stored: without secrets.

        When read, a later one takes the place of an earlier one under its key.
        """
        line = record_line(row)
        if self.files.redactor.may_change(line):
            redacted = json_line(self.files.redactor.json(row.to_json()))
            if redacted != json_line(row.to_json()):
                row = Row.from_json(json.loads(redacted))
            line = redacted
        self._rows.append(line)
        return row

    def add_transcript(self, key: RowKey, transcript: Transcript) -> None:
        """Append what happened for one row."""
        line = TranscriptLine.of(key, transcript)
        self._transcripts.append(self.files.line(line))

    def add_questions(self, questions: Iterable[Question]) -> None:
        """Append what samples ask, each question that is not there yet.

        Raises:
            OSError, UsageError: the file cannot be read or written.
        """
        known = {question.key for question in read_questions(self.path)}
        with closing(LineFile(self.path / SAMPLES)) as file:
            for question in questions:
                if question.key not in known:
                    known.add(question.key)
                    file.append(self.files.line(question))

    def close(self) -> None:
        """Close the files; OSError, once all are closed, when one could not be."""
        with ExitStack() as closing:
            closing.callback(self._lock.release)
            closing.callback(self._rows.close)
            closing.callback(self._transcripts.close)
