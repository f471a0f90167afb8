"""Where a session's files go: the folder of a new or of a resumed run, or a place that vanishes with the session."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.records import Json, Row
from pytest_llmeval.session.settings import Settings

if TYPE_CHECKING:
    from pytest_llmeval.results.store import RunFolder
    from pytest_llmeval.session.resuming import Resumed


class SessionFiles:
    """Makes the run's folder when it is first needed, in whichever thread that is."""

    def __init__(self, settings: Settings, tell_info: Callable[[], dict[str, Json]]) -> None:
        """Make nothing yet; `tell_info` gives what run.json is to hold.

        UsageError when the run to resume is not there, or another session is writing into it.
        """
        self._reports, self._tell_info = settings.report, tell_info
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
        """Return the run's folder, None when no files are wanted; UsageError when it cannot be had."""
        if self._reports is None and self._resumed is None:
            return None
        with self._lock:
            if self._folder is None:
                from pytest_llmeval.files.redaction import Redactor  # noqa: PLC0415 - only with files
                from pytest_llmeval.results.store import RunFolder  # noqa: PLC0415 - as above

                info, redactor = self._tell_info(), Redactor.of(os.environ)
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
        """Close the files, let others resume the run, and remove what was temporary."""
        if self._folder is not None:
            self._folder.close()
        if self._resumed is not None:
            self._resumed.lock.release()
        if self._scratch is not None:
            self._scratch.cleanup()


def _find_resumed(settings: Settings) -> Resumed | None:
    if settings.resume is None:
        return None
    from pytest_llmeval.session.resuming import find_resumed  # noqa: PLC0415 - for sessions that resume

    return find_resumed(settings.resume, folder=Path(settings.folder), reports=settings.report)
