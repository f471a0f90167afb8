"""Runs a program of others that must not outlive the parent; run as a script.

``python watcher.py GRACE LOG COMMAND...`` runs the command with its output in the file LOG, in a
process group of its own. When standard input ends, because the parent closed it or died of
whatever, the group gets SIGTERM and, if it is still there GRACE seconds later, SIGKILL. When the
command ends by itself, what it started is killed, and this process ends with its code; 127 if it
does not start.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Final

GRACE: Final = 5.0
"""Seconds that a program usually has to end by itself."""

NOT_STARTED: Final = 127
_OF_A_SIGNAL: Final = 128


def main() -> int:
    """Run the command, and return the exit code."""
    grace, log, *command = sys.argv[1:]
    with open(log, "wb") as file:  # noqa: PTH123 - the fewest imports
        try:
            process = subprocess.Popen(  # noqa: S603 - what the parent names
                command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            file.write(f"{command[0]}: {error.strerror}\n".encode())
            return NOT_STARTED
    ending = (process.pid, float(grace))
    threading.Thread(target=_end_with_parent, args=ending, daemon=True).start()
    code = process.wait()
    _signal(process.pid, signal.SIGKILL)
    return code if code >= 0 else _OF_A_SIGNAL - code


def _end_with_parent(group: int, grace: float) -> None:
    """Wait for the end of standard input, then end the group."""
    while os.read(0, 1):  # unbuffered: a buffer's lock could not be taken when Python ends
        pass
    _signal(group, signal.SIGTERM)
    time.sleep(grace)
    _signal(group, signal.SIGKILL)


def _signal(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # it is gone; macOS says so by the second
        os.killpg(group, number)


if __name__ == "__main__":
    sys.exit(main())
