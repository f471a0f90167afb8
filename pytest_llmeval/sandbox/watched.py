"""A child that runs a program: its output, its deadline, its end."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import Process
from contextlib import suppress
from pathlib import Path

from pytest_llmeval.sandbox.launcher import SEALED
from pytest_llmeval.sandbox.limits import Limits

# Wall seconds.
_GRACE = 2.0  # from the end of the process to that of its pipes
_LOOK = 0.1  # between two looks at the scratch folder

_MEGABYTE = 1 << 20
_CHUNK = 1 << 16
_BLOCK = 512  # of st_blocks, on every system
_SHELL_SIGNALS = 128
"""Bubblewrap and containers exit with this and the number of the signal that ended the program."""

_WORDS = {
    signal.SIGXCPU: "it used more than {cpu_seconds} s of processor time",
    signal.SIGALRM: "it did not end within {wall_seconds:g} s",
    signal.SIGKILL: "it was killed",
    signal.SIGSEGV: "it crashed (segmentation fault)",
    signal.SIGABRT: "it aborted",
}


class Watched:
    """A running child: its output so far, and why it was ended.

    Attributes:
        problem: why it did not end by itself with status 0; None when it did, or runs.
        killed: whether it was killed from here.
    """

    def __init__(
        self, process: Process, limits: Limits, scratch: Path, *, start: float = 0.0
    ) -> None:
        """Take a process that has just started.

        Args:
            process: the process.
            limits: what it may use.
            scratch: its scratch folder.
            start: wall seconds that its start may take, where it holds the limit by itself then.
        """
        self._process, self._limits, self._scratch, self._start = process, limits, scratch, start
        self.killed = False
        self._texts = {"output": bytearray(), "errors": bytearray()}
        self.problem: str | None = None

    @property
    def output(self) -> str:
        """Standard output so far."""
        return self._texts["output"].decode("utf-8", "replace")

    @property
    def errors(self) -> str:
        """Standard error so far."""
        return self._texts["errors"].decode("utf-8", "replace")

    async def finish(self, text: str) -> None:
        """Wait until the child has ended, or end it; nothing of it is left."""
        streams = [
            asyncio.create_task(self._write(text)),
            asyncio.create_task(self._read("output", self._process.stdout)),
            asyncio.create_task(self._read("errors", self._process.stderr)),
        ]
        look = asyncio.create_task(self._look_at_scratch())
        try:
            async with asyncio.timeout(self._start + self._limits.wall_seconds):
                await self._process.wait()
        except TimeoutError:
            self._end(f"it did not end within {self._limits.wall_seconds:g} s")
        finally:
            self._kill()
            look.cancel()
            await self._process.wait()
            _, pending = await asyncio.wait(streams, timeout=_GRACE)
            for task in pending:
                task.cancel()
        if self.problem is None:
            self.problem = self._ending()

    def _end(self, problem: str) -> None:
        """Kill the child for a reason; the first one counts."""
        self.problem = self.problem or problem
        self._kill()

    def _kill(self) -> None:
        """Kill the process and its group, unless it has ended: its number may be another's then."""
        if self._process.returncode is None:
            self.killed = True
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def _write(self, text: str) -> None:
        assert self._process.stdin is not None  # noqa: S101 - a pipe, by `_start`
        with suppress(ConnectionError):
            self._process.stdin.write(text.encode("utf-8", "surrogatepass"))
            await self._process.stdin.drain()
        self._process.stdin.close()

    async def _read(self, name: str, stream: asyncio.StreamReader | None) -> None:
        assert stream is not None  # noqa: S101 - as above
        most = self._limits.output_bytes + len(f"{SEALED}\n")
        while chunk := await stream.read(_CHUNK):
            self._texts[name] += chunk
            if len(self._texts[name]) > most:
                del self._texts[name][most:]
                self._end(f"it wrote more than {self._limits.output_bytes} bytes")
                return

    async def _look_at_scratch(self) -> None:
        """End the child when its scratch folder is full; in bubblewrap the folder is elsewhere."""
        most = self._limits.scratch_mb * _MEGABYTE
        while _size(self._scratch) <= most:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(_LOOK)
        self._end(f"its files exceeded {self._limits.scratch_mb} MB")

    def _ending(self) -> str | None:
        """Return why the child ended, None when it ended well."""
        status = self._process.returncode
        if not status:
            return None
        number = -status if status < 0 else status - _SHELL_SIGNALS
        if number in signal.valid_signals():
            name = signal.Signals(number)
            words = _WORDS.get(name, f"it ended by the signal {name.name}")
            return words.format(
                cpu_seconds=self._limits.cpu_seconds, wall_seconds=self._limits.wall_seconds
            )
        return f"it ended with status {status}"


def _size(folder: Path) -> int:
    """Return the bytes on disk of all below a folder, whatever becomes of it meanwhile."""
    total = 0
    for place, _, files in os.walk(folder):
        for file in files:
            with suppress(OSError):
                total += Path(place, file).lstat().st_blocks * _BLOCK
    return total
