"""The folder of a session's files: of a new run, of a resumed run, or a temporary one."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.files.writes import Writes
from pytest_llmeval.records import Json, Row, RowKey, Transcript
from pytest_llmeval.results.questions import Question
from pytest_llmeval.results.run_files import SAMPLES
from pytest_llmeval.results.store import RunFolder
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.stored_runs import Resumed, find_resumed


class SessionFiles:
    """Makes the run's folder on first use; the methods may be called from any thread."""

    def __init__(
        self,
        settings: Settings,
        run_info: Callable[[], dict[str, Json]],
        questions: Callable[[], Iterable[Question]],
        writes: Writes,
    ) -> None:
        """Find and lock the run to resume, if there is one; make no folder yet.

        Args:
            settings: the session's settings.
            run_info: returns the content of run.json.
            questions: returns what the planned samples ask.
            writes: notes what cannot be written.

        Raises:
            UsageError: the run to resume does not exist, or another session is writing into it.
        """
        self._reports, self._writes = settings.report, writes
        self._run_info, self._questions = run_info, questions
        self._resumed: Resumed | None = None
        if settings.resume is not None:
            self._resumed = find_resumed(
                settings.resume, folder=Path(settings.folder), reports=settings.report
            )
        self._lock = threading.Lock()
        self._folder: RunFolder | None = None
        self._refusal: str | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None

    @property
    def wanted(self) -> bool:
        """Whether the run has a folder; without one it is in memory alone."""
        return self._reports is not None or self._resumed is not None

    @property
    def earlier(self) -> Sequence[Row]:
        """The rows that a resumed run already has."""
        return () if self._resumed is None else self._resumed.run.rows

    @property
    def resumed(self) -> StoredRun | None:
        """The run that is resumed, as it was before this session; see `release_rows`."""
        return None if self._resumed is None else self._resumed.run

    def release_rows(self) -> None:
        """Drop the rows of the resumed run, which its log holds by now; a new report frees each."""
        if self._resumed is not None:
            run = replace(self._resumed.run, rows=())
            self._resumed = replace(self._resumed, run=run)

    @cached_property
    def started(self) -> float:
        """When the run first began, in seconds since 1970; now for a run that is not resumed."""
        # To the microsecond, as run.json has it.
        return round(time.time(), 6) if self._resumed is None else self._resumed.run.started

    def folder(self) -> RunFolder | None:
        """Return the run's folder; None if no files are wanted.

        Raises:
            UsageError: the folder cannot be made; it is not tried a second time.
        """
        if not self.wanted:
            return None
        with self._lock:
            if self._refusal is not None:
                raise UsageError(self._refusal)
            if self._folder is None:
                try:
                    self._folder = self._opened(Redactor.of(os.environ))
                except UsageError as error:
                    self._refusal = str(error)
                    raise
            return self._folder

    def data_folder(self) -> Path:
        """Return the folder of replies and pictures: the run's folder, or a new temporary one."""
        if (folder := self.folder()) is not None:
            return folder.path
        self._scratch = tempfile.TemporaryDirectory(prefix="llmeval-", ignore_cleanup_errors=True)
        return Path(self._scratch.name)

    def made(self) -> RunFolder | None:
        """Return the run's folder; None also if it could not be made, which the rows have told."""
        try:
            return self.folder()
        except UsageError:
            return None

    def keep_transcript(self, key: RowKey, transcript: Transcript) -> None:
        """Store what happened for a row; RunStopped if that fails."""
        with self._writes.to("transcripts"):
            if (folder := self.folder()) is not None:
                folder.add_transcript(key, transcript)

    def close(self) -> None:
        """Close the files, release the run's lock, and remove the temporary folder."""
        try:
            self._close()
        except OSError as error:
            self._writes.failed("the run's folder", error)

    def _close(self) -> None:
        with ExitStack() as closing:
            if self._scratch is not None:
                closing.callback(self._scratch.cleanup)
            if self._resumed is not None:
                closing.callback(self._resumed.lock.release)
            if self._folder is not None:
                closing.callback(self._folder.close)

    def _opened(self, redactor: Redactor) -> RunFolder:
        info = self._run_info()
        if self._resumed is None:
            started = datetime.fromtimestamp(self.started, UTC)
            reports = Path(self._reports or "")
            folder = RunFolder.create(reports, info, redactor=redactor, started=started)
        else:
            run, lock = self._resumed.run, self._resumed.lock
            folder = RunFolder.resume(run, info, redactor=redactor, lock=lock)
        with ExitStack() as on_failure:
            on_failure.callback(folder.close)
            try:
                folder.add_questions(self._questions())
            except OSError as error:
                msg = f"cannot write {folder.path / SAMPLES}: {error.strerror or error}"
                raise UsageError(msg) from error
            on_failure.pop_all()
        return folder
