"""Workers that a command starts, such as ``srun python`` or ``docker run -i IMAGE python``."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from pytest_llmeval.workers.connection import PIECE, as_broker
from pytest_llmeval.workers.placement import Placed, PlacementError
from pytest_llmeval.workers.proof import Credentials, ProofError
from pytest_llmeval.workers.supervisor import GREETING, order_on_streams

_PROGRAM: Final = ("-m", "pytest_llmeval.workers.supervisor")
"""Plain words, because ``ssh`` hands its arguments to a shell."""

_SHOWN: Final = 300
"""Characters of a command's output that a message quotes."""

_A_MOMENT: Final = 0.5
"""Seconds in which the rest of a banner comes."""


class CommandPlacement:
    """Starts each supervisor by one run of the command."""

    def __init__(self, command: Sequence[str], *, silence: float) -> None:
        """Run `command`; see `spec.WorkersSpec` for the silence."""
        self._command, self._silence = tuple(command), silence
        self._running: set[asyncio.subprocess.Process] = set()

    async def open(self) -> None:
        """Do nothing: supervisors are started one by one, without a cluster to join."""

    async def place(self) -> Placed:
        """Run the command, and authenticate the supervisor that it starts."""
        process = await asyncio.create_subprocess_exec(
            *(*self._command, *_PROGRAM),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            env=_environment(),
        )
        self._running.add(process)
        assert process.stderr is not None  # noqa: S101 - a pipe, as started
        said = asyncio.create_task(_tail(process.stderr))
        try:
            return await self._greeted(process, said)
        except BaseException:
            self._end(process)
            raise

    async def _greeted(
        self, process: asyncio.subprocess.Process, said: asyncio.Task[str]
    ) -> Placed:
        assert process.stdin and process.stdout  # noqa: S101, PT018 - pipes, as started
        begun = await _beginning(process.stdout)
        if not GREETING.startswith(begun):
            problem = (
                f"printed {_quoted(begun)} where Python was to begin; its standard output must "
                "carry nothing else: send banners to standard error"
            )
            raise self._refused(problem)
        if begun != GREETING:
            status = await process.wait()
            raise self._refused(_ending(status, await said))
        credentials = Credentials.new()
        process.stdin.write(order_on_streams(credentials, self._silence))
        expected = {credentials.identity: credentials}
        try:
            _, connection = await as_broker(
                process.stdout, process.stdin, expected.get, silence=self._silence
            )
        except ProofError as error:
            problem = f"gave no worker ({error})"
            raise self._refused(problem) from None
        ended = asyncio.ensure_future(_ended(process, said))
        return Placed(connection, ended, lambda: self._end(process))

    async def shortage(self) -> str:
        """Return why a command may give no Python."""
        return (
            f"the command {shlex.join(self._command)!r} printed no greeting; it must keep standard "
            "input open, and hand further arguments on to Python: "
            """such as sh -c 'exec python "$@"' sh"""
        )

    async def close(self) -> None:
        """Kill all commands that still run."""
        for process in tuple(self._running):
            self._end(process)

    def _end(self, process: asyncio.subprocess.Process) -> None:
        self._running.discard(process)
        # The group of a process that was waited for is gone, or its last members are meant.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)

    def _refused(self, problem: str) -> PlacementError:
        return PlacementError(f"the command {shlex.join(self._command)!r} {problem}")


async def _beginning(stdout: asyncio.StreamReader) -> bytes:
    """Return what a command prints first: the greeting, less of it at its end, or another text."""
    begun = b""
    while begun != GREETING and GREETING.startswith(begun):
        if not (piece := await stdout.read(len(GREETING) - len(begun))):
            return begun
        begun += piece
    if begun != GREETING:
        with suppress(TimeoutError):
            async with asyncio.timeout(_A_MOMENT):
                while len(begun) < _SHOWN and (piece := await stdout.read(_SHOWN)):
                    begun += piece
    return begun


async def _tail(stderr: asyncio.StreamReader) -> str:
    kept = b""
    while piece := await stderr.read(PIECE):
        kept = (kept + piece)[-_SHOWN:]
    return kept.decode(errors="replace").strip()


async def _ended(process: asyncio.subprocess.Process, said: asyncio.Task[str]) -> str:
    status = await process.wait()
    return f"the command {_ending(status, await said)}"


def _ending(status: int, said: str) -> str:
    hint = ""
    if "No module named" in said:
        hint = "; its Python needs pytest-llmeval-suite"
    return f"ended with status {status}" + (f": {said}" if said else "") + hint


def _quoted(begun: bytes) -> str:
    return repr(begun[:_SHOWN].decode(errors="replace"))


def _environment() -> dict[str, str]:
    """Return the command's environment, in which a Python of this machine finds this package."""
    package, inherited = str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")
    if Path(package).name in {"site-packages", "dist-packages"}:
        return dict(os.environ)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [package, inherited]))}
