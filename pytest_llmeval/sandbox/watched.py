"""A child that runs a program: its output, its deadline, its end."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

from pytest_llmeval.sandbox.launcher import SEALED
from pytest_llmeval.sandbox.limits import Limits

# Wall seconds.
_GRACE = 2.0  # from the end of the process to that of its pipes
_LOOK = 0.1  # between two looks at the scratch folder

_MEGABYTE = 1 << 20
_BLOCK = 512  # of st_blocks, on every system
_STDIN, _STDOUT, _STDERR = range(3)  # descriptors

_SHELL_SIGNALS = 128
"""Bubblewrap and containers exit with this and the number of the signal that ended the program."""

_WORDS = {
    signal.SIGXCPU: "it used more than {cpu_seconds} s of processor time",
    signal.SIGALRM: "it did not end within {wall_seconds:g} s",
    signal.SIGKILL: "it was killed",
    signal.SIGSEGV: "it crashed (segmentation fault)",
    signal.SIGABRT: "it aborted",
}


class Watched(asyncio.SubprocessProtocol):
    """A running child: its output so far, and why it was ended.

    Its pipes are read by the event loop, whatever it writes, so that their end is always seen.

    Attributes:
        problem: why it did not end by itself with status 0; None when it did, or runs.
        killed: whether it was killed from here.
    """

    def __init__(self, limits: Limits, scratch: Path, *, start: float = 0.0) -> None:
        """Watch a process that is about to be started with this protocol.

        Args:
            limits: what it may use.
            scratch: its scratch folder.
            start: wall seconds that its start may take, where it holds the limit by itself then.
        """
        self._limits, self._scratch, self._start = limits, scratch, start
        self.killed = False
        self.problem: str | None = None
        self._texts = {_STDOUT: bytearray(), _STDERR: bytearray()}
        self._exited, self._closed = asyncio.Event(), asyncio.Event()

    @property
    def ended(self) -> bool:
        """Whether the child was started and has ended."""
        return self._exited.is_set()

    @property
    def output(self) -> str:
        """Standard output so far."""
        return self._texts[_STDOUT].decode("utf-8", "replace")

    @property
    def errors(self) -> str:
        """Standard error so far."""
        return self._texts[_STDERR].decode("utf-8", "replace")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the child, which has just started."""
        assert isinstance(transport, asyncio.SubprocessTransport)  # noqa: S101 - asyncio's promise
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep what the child wrote; end it when that is too much."""
        kept = self._texts[fd]
        kept += data
        most = self._limits.output_bytes + len(f"{SEALED}\n")
        if len(kept) > most:
            del kept[most:]
            self._end(f"it wrote more than {self._limits.output_bytes} bytes")

    def process_exited(self) -> None:
        """Note that the child has ended; others may still hold its pipes."""
        self._exited.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Note that the child has ended and its pipes are closed."""
        self._closed.set()

    async def finish(self, text: str) -> None:
        """Wait until the child has ended, or end it; nothing of it is left, nor of its pipes.

        Args:
            text: its standard input.
        """
        self._write(text)
        look = asyncio.create_task(self._look_at_scratch())
        try:
            async with asyncio.timeout(self._start + self._limits.wall_seconds):
                await self._exited.wait()
        except TimeoutError:
            self._end(f"it did not end within {self._limits.wall_seconds:g} s")
        finally:
            self._kill()
            look.cancel()
            await self._exited.wait()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closed.wait(), _GRACE)
            self._transport.close()
            await asyncio.sleep(0)  # one pass of the event loop, in which it closes the pipes
        if self.problem is None:
            self.problem = self._ending()

    def _end(self, problem: str) -> None:
        """Kill the child for a reason; the first one counts."""
        self.problem = self.problem or problem
        self._kill()

    def _kill(self) -> None:
        """Kill the process and its group, unless it has ended: its number may be another's then."""
        if self._transport.get_returncode() is None:
            self.killed = True
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._transport.get_pid(), signal.SIGKILL)

    def _write(self, text: str) -> None:
        """Write to the standard input and close it, in the background.

        A child that has closed its standard input, or has ended, raises nothing here.
        """
        pipe = self._transport.get_pipe_transport(_STDIN)
        assert isinstance(pipe, asyncio.WriteTransport)  # noqa: S101 - a pipe, by `run_program`
        pipe.write(text.encode("utf-8", "surrogatepass"))
        pipe.write_eof()

    async def _look_at_scratch(self) -> None:
        """End the child when its scratch folder is full; in bubblewrap the folder is elsewhere."""
        most = self._limits.scratch_mb * _MEGABYTE
        while _size(self._scratch) <= most:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(_LOOK)
        self._end(f"its files exceeded {self._limits.scratch_mb} MB")

    def _ending(self) -> str | None:
        """Return why the child ended, None when it ended well."""
        status = self._transport.get_returncode()
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
