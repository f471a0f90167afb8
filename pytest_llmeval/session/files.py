"""Where a session's files go: the folder of a new or a resumed run, or a temporary one."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import Json, Row
from pytest_llmeval.results.store import RunFolder
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.stored_runs import Resumed, find_resumed


class SessionFiles:
    """Makes the run's folder when it is first needed, in whichever thread that is."""

    def __init__(self, settings: Settings, run_info: Callable[[], dict[str, Json]]) -> None:
        """Make nothing yet; `run_info` returns what run.json will hold.

        Raises:
            UsageError: the run to resume is not there, or another session is writing into it.
        """
        self._reports, self._run_info = settings.report, run_info
        self._resumed = _find_resumed(settings)
        self._lock = threading.Lock()
        self._folder: RunFolder | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None

    @property
    def earlier(self) -> Sequence[Row]:
        """The rows that a resumed run has already."""
        return () if self._resumed is None else self._resumed.run.rows

    @property
    def started(self) -> float:
        """When the run first began, for a resumed one in an earlier session (s since 1970)."""
        return time.time() if self._resumed is None else self._resumed.run.started

    def folder(self) -> RunFolder | None:
        """Return the run's folder, None without one; UsageError when it cannot be made."""
        if self._reports is None and self._resumed is None:
            return None
        with self._lock:
            if self._folder is None:
                info, redactor = self._run_info(), Redactor.of(os.environ)
                self._folder = (
                    RunFolder.create(Path(self._reports or ""), info, redactor=redactor)
                    if self._resumed is None
                    else RunFolder.resume(
                        self._resumed.run, info, redactor=redactor, lock=self._resumed.lock
                    )
                )
            return self._folder

    def data_folder(self) -> Path:
        """Return where replies and pictures go: the run's folder, or a temporary one."""
        if (folder := self.folder()) is not None:
            return folder.path
        self._scratch = tempfile.TemporaryDirectory(prefix="llmeval-", ignore_cleanup_errors=True)
        return Path(self._scratch.name)

    def close(self) -> None:
        """Close the files, release the run's lock, and remove the temporary folder."""
        if self._folder is not None:
            self._folder.close()
        if self._resumed is not None:
            self._resumed.lock.release()
        if self._scratch is not None:
            self._scratch.cleanup()


def _find_resumed(settings: Settings) -> Resumed | None:
    if settings.resume is None:
        return None
    return find_resumed(settings.resume, folder=Path(settings.folder), reports=settings.report)
