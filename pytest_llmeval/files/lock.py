"""The right to write into a run's folder, which one session at a time has."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

from pytest_llmeval.errors import UsageError


class FolderLock:
    """Held from construction to `release`, or to the end of the process, however that comes.

    The lock is the system's, on the folder itself: nothing is left behind that a killed session
    would have to clear. File systems without locks (some network ones) grant it to everybody.
    """

    def __init__(self, folder: Path) -> None:
        """Take the right; UsageError when another session has it, or there is no such folder."""
        try:
            self._folder: int | None = os.open(folder, os.O_RDONLY)
        except OSError as error:
            msg = f"{folder}: cannot be opened: {error.strerror or error}"
            raise UsageError(msg) from error
        try:
            fcntl.flock(self._folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in {errno.EWOULDBLOCK, errno.EACCES}:
                os.close(self._folder)
                msg = f"{folder}: another session is writing into this run; wait for its end, or stop it"
                raise UsageError(msg) from error

    def release(self) -> None:
        """Let the next one in."""
        if self._folder is not None:
            os.close(self._folder)
        self._folder = None
