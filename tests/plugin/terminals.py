"""Real pseudo-terminals, and an emulator that tells what stands on their screens."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyte

SECONDS = 120
"""How long a test waits for a session at most, on a busy machine."""


class Terminal:
    """A pseudo-terminal; all that is written to it is shown on an emulated screen.

    Attributes:
        screen: the emulator's.
        slave: the file descriptor that a program writes to.
        bytes: all that was written.
    """

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        """Open it."""
        self._master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen = pyte.HistoryScreen(columns, rows, history=100_000, ratio=1)
        self.bytes = b""
        self._stream = pyte.ByteStream(self.screen)

    def read(self, within: float = 0.0) -> bool:
        """Show what was written; wait for it so many seconds. Return whether there was anything."""
        found = False
        while select.select([self._master], [], [], 0 if found else within)[0]:
            try:
                data = os.read(self._master, 65_536)
            except OSError:
                break  # all programs have closed it
            if not data:
                break
            self._stream.feed(data)
            self.bytes += data
            found = True
        return found

    def type(self, text: str) -> None:
        """Type keys."""
        os.write(self._master, text.encode())

    @property
    def rows(self) -> list[str]:
        """All rows, also those that have left the screen, without blank ones at the end."""
        above = [
            "".join(line[column].data for column in range(self.screen.columns))
            for line in self.screen.history.top
        ]
        rows = [row.rstrip() for row in (*above, *self.screen.display)]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def close(self) -> None:
        """Close both ends."""
        os.close(self._master)
        if self.slave >= 0:
            os.close(self.slave)


class TerminalSession:
    """A program that runs in a terminal of its own, as a user would start it."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        environment: Mapping[str, str] | None = None,
        **size: int,
    ) -> None:
        """Start it."""
        self.terminal = terminal = Terminal(**size)
        slave = terminal.slave

        def take() -> None:
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            # Whoever runs the tests in the background has Ctrl-C ignored.
            signal.signal(signal.SIGINT, signal.SIG_DFL)

        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**_without_ci(), **(environment or {})},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=take,  # noqa: PLW1509 - no other thread runs
        )

    def until(self, text: str, *, ended: bool = False) -> list[str]:
        """Return the rows as soon as one of them contains `text`, or once the program has ended."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            over = self.process.poll() is not None
            self.terminal.read(within=0.0 if over else 0.05)
            rows = self.terminal.rows
            if (over and ended) or (not ended and any(text in row for row in rows)):
                return rows
            assert not over, "\n".join(rows)
        raise AssertionError("\n".join(self.terminal.rows))

    def finish(self) -> list[str]:
        """Return all rows once the program has ended."""
        return self.until("", ended=True)

    def close(self) -> None:
        """End the program if it runs, and close the terminal."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.terminal.close()


def _without_ci() -> dict[str, str]:
    """Return the environment as that of a user at a terminal, whatever runs these tests."""
    names = {"CI", "BUILD_NUMBER", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"}
    kept = {name: value for name, value in os.environ.items() if name not in names}
    return {**kept, "TERM": "xterm-256color", "LANG": "C.UTF-8", "PYTHONUTF8": "1"}
