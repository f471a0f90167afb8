"""An exclusive lock on a folder."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pytest_llmeval.errors import UsageError

_PATIENCE: Final = 10.0
"""Seconds that `turn_in` waits."""

_PAUSE: Final = 0.02


@contextmanager
def turn_in(folder: Path) -> Iterator[None]:
    """Wait for the others that change something in a folder, and keep them waiting meanwhile.

    For changes of a moment, by the same lock as `FolderLock`.

    Raises:
        UsageError: they take too long, or the folder cannot be opened.
    """
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            lock = FolderLock(folder)
            break
        except UsageError:
            if time.monotonic() > end:
                raise
            time.sleep(_PAUSE)
    try:
        yield
    finally:
        lock.release()


class FolderLock:
    """An exclusive lock on a folder, held until `release` or the end of the process.

    It is a lock of the operating system (`flock`) on the folder itself, so a killed process leaves
    no lock file. On file systems without locks (some network ones) it has no effect.
    """

    def __init__(self, folder: Path, holder: str = "session is writing into this run") -> None:
        """Take the lock.

        Args:
            folder: the folder.
            holder: what another holder is and does, for the message.

        Raises:
            UsageError: another process holds it, or the folder cannot be opened.
        """
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
                msg = f"{folder}: another {holder}; wait for its end, or stop it"
                raise UsageError(msg) from error

    def release(self) -> None:
        """Release the lock; without effect if it was released before."""
        if self._folder is not None:
            os.close(self._folder)
        self._folder = None
