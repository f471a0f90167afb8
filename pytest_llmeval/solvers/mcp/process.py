"""The process of an MCP server: its messages within limits, its last words, its end."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from asyncio import StreamReader
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from pytest_llmeval.errors import ToolError
from pytest_llmeval.solvers.mcp.server import McpServer

LONGEST_LINE: Final = 4_000_000
"""Bytes of one message."""

MOST_UNASKED: Final = 2_000
"""Lines in a row that answer nothing: notes, and what is no message at all."""

_LAUNCHER = str(Path(__file__).with_name("launcher.py"))
_LAST_WORDS = 1_000
_CHUNK = 1 << 16

# Seconds.
_GRACE = 0.5  # from the end of its input to the kill
_DEAD = 2.0  # from the kill to the end of its pipes
_REMOVED = 0.1  # from then to the end of all processes of its group


class ServerProcess:
    """A running server.

    Attributes:
        problem: why it cannot go on, with the fix; "" as long as nothing is known.
        ended: whether its output has ended.
    """

    def __init__(self, process: Process, leash: socket.socket) -> None:
        """Take a process that has just started, and the leash that it hangs on."""
        self._process, self._leash = process, leash
        self._said, self._status = bytearray(), b""
        self._listening = asyncio.ensure_future(self._listen(_pipe(process.stderr)))
        self._unasked = 0
        self.problem, self.ended = "", False

    @classmethod
    async def start(cls, server: McpServer) -> ServerProcess:
        """Start a server; ToolError if the machine has no process for it."""
        ours, theirs = socket.socketpair()
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", _LAUNCHER, str(theirs.fileno()), *server.argv),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                limit=LONGEST_LINE,
                cwd=server.folder,
                env=server.environment(),
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # Ctrl-C reaches the run, which ends it
            )
        except OSError as error:
            ours.close()
            msg = f"{server.told} cannot be started: {error}"
            raise ToolError(msg) from error
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)
        return cls(process, ours)

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the lines of its output, until it ends or says too much."""
        output = _pipe(self._process.stdout)
        while not self.problem:
            try:
                yield await output.readuntil(b"\n")
            except asyncio.IncompleteReadError:
                break
            except asyncio.LimitOverrunError:
                self._flooded(f"a line of more than {LONGEST_LINE:,} bytes")
            except ConnectionError:
                break
        self.ended = True

    async def write(self, line: bytes) -> None:
        """Send it a line; nothing happens if it has ended."""
        assert self._process.stdin is not None  # noqa: S101 - a pipe, by `start`
        with suppress(ConnectionError):
            self._process.stdin.write(line)
            await self._process.stdin.drain()

    def note(self, *, answers: bool) -> None:
        """Count a line of its output, by whether it answers a request."""
        self._unasked = 0 if answers else self._unasked + 1
        if self._unasked > MOST_UNASKED:
            self._flooded(f"more than {MOST_UNASKED:,} lines in a row that answer nothing")

    async def last_words(self) -> str:
        """Return its exit status, if it has ended by itself, and the end of what it logged."""
        if self.ended:
            await asyncio.wait([self._listening], timeout=_DEAD)
            with suppress(OSError):
                self._status = self._status or self._leash.recv(16)
        status = f" It ended with status {self._status.decode()}." if self._status else ""
        said = self._said.decode("utf-8", "replace").strip()
        return f"{status} It said: {said}" if said else f"{status} It said nothing."

    def kill(self) -> None:
        """Kill it and all that it started."""
        self._leash.close()

    async def close(self) -> None:
        """End it by the end of its input, then by a kill."""
        try:
            assert self._process.stdin is not None  # noqa: S101 - a pipe, by `start`
            self._process.stdin.close()
            if not self.problem:
                await asyncio.wait([self._listening], timeout=_GRACE)
        finally:
            self.kill()
        with suppress(TimeoutError):
            async with asyncio.timeout(_DEAD):
                await self._drain()
                await self._listening
                await self._process.wait()
        await self._removed()
        # Nothing public closes pipes that a process outside of the group still holds.
        self._process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001

    async def _removed(self) -> None:
        """Wait a moment for the system to remove the killed processes of the group."""
        # Zombies of a system that collects none stay in the group for ever.
        with suppress(ProcessLookupError, PermissionError, TimeoutError):
            async with asyncio.timeout(_REMOVED):
                while True:
                    os.killpg(self._process.pid, 0)
                    await asyncio.sleep(0.005)

    async def _drain(self) -> None:
        """Read what is left of its output, without which its pipe does not end."""
        output = _pipe(self._process.stdout)
        with suppress(ConnectionError):
            while await output.read(_CHUNK):
                pass

    def _flooded(self, what: str) -> None:
        self.problem = (
            f"wrote {what}; its standard output is for messages of the protocol alone: "
            "let it log to standard error, and say less"
        )
        self.kill()

    async def _listen(self, errors: StreamReader) -> None:
        """Keep the end of what it logs."""
        with suppress(ConnectionError):
            while chunk := await errors.read(_CHUNK):
                self._said += chunk
                del self._said[:-_LAST_WORDS]


def _pipe(stream: StreamReader | None) -> StreamReader:
    assert stream is not None  # noqa: S101 - a pipe, by `start`
    return stream
