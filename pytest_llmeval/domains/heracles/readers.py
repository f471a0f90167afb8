"""Processes that run queries and read their rows.

Unpacking one row can take longer than any deadline (15 s of CPU time for ten million numbers), and
holds the interpreter meanwhile; so it happens in processes that can be killed, not in the engine's.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from typing import Any

from pytest_llmeval.domains.heracles.bolt import (
    Login,
    NoAnswerError,
    QueryFailedError,
    TimeLimits,
)
from pytest_llmeval.domains.heracles.rows import RowsText
from pytest_llmeval.errors import ToolError
from pytest_llmeval.files.child_environment import child_environment

_COMMAND = (sys.executable, "-P", "-m", "pytest_llmeval.domains.heracles.reader_child")
_START_SECONDS = 60.0
_GRACE_SECONDS = 1.0
"""Time for a process to tell by itself that the deadline has passed, before it is killed."""
_LONGEST_LINE = 1 << 20


class Readers:
    """Reading processes for one login: started as they are needed, one query at a time each."""

    def __init__(self, login: Login, limits: TimeLimits) -> None:
        """Start nothing yet."""
        self._login, self._limits = login, limits
        self._idle: list[Process] = []

    async def ask(self, cypher: str, *, mark: str = "") -> RowsText:
        """Run a query as `Bolt.ask` does, with the same errors."""
        process = self._idle.pop() if self._idle else await self._start()
        request = json.dumps({"cypher": cypher, "mark": mark})
        try:
            async with asyncio.timeout(self._limits.deadline + _GRACE_SECONDS):
                line = await _exchange(process, request)
        except BaseException as error:
            await _end(process)
            if not isinstance(error, TimeoutError):
                raise
            msg = f"no answer within {self._limits.deadline:g} s; the connection was dropped"
            raise NoAnswerError(msg, timed_out=True) from None
        if not line:
            await _end(process)
            msg = "the process that read the rows died"
            raise NoAnswerError(msg)
        self._idle.append(process)
        return _rows(json.loads(line))

    async def close(self) -> None:
        """End the processes."""
        while self._idle:
            await _end(self._idle.pop())

    async def _start(self) -> Process:
        process = await _spawn()
        settings = {**dataclasses.asdict(self._login), **dataclasses.asdict(self._limits)}
        line = b""
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(_START_SECONDS):
                    line = await _exchange(process, json.dumps(settings))
        finally:
            if not line:
                await _end(process)
        if not line:
            msg = (
                "the process that reads rows of the graph database did not start; "
                f"`{' '.join(_COMMAND[1:])}` with a line of settings shows why"
            )
            raise ToolError(msg)
        return process


async def _spawn() -> Process:
    try:
        return await asyncio.create_subprocess_exec(
            *_COMMAND,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env=child_environment(),
            limit=_LONGEST_LINE,
            start_new_session=True,  # Ctrl-C reaches the parent alone; the child ends with it
        )
    except OSError as error:
        msg = f"the process that reads rows of the graph database could not be started: {error}"
        raise ToolError(msg) from error


async def _exchange(process: Process, line: str) -> bytes:
    """Write a line, and return the next one that the process writes; b"" when it has ended."""
    assert process.stdin is not None  # noqa: S101 - both are pipes, by `_start`
    assert process.stdout is not None  # noqa: S101
    with suppress(ConnectionError):
        process.stdin.write(f"{line}\n".encode())
        await process.stdin.drain()
    return await process.stdout.readline()


async def _end(process: Process) -> None:
    """Kill the process, and wait for its end."""
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()


def _rows(reply: dict[str, Any]) -> RowsText:
    """Return the rows of a child's reply, or raise the error in it."""
    match reply:
        case {"rows": rows}:
            return RowsText(**rows)
        case {"failed": problem}:
            raise QueryFailedError(problem)
        case {"no_answer": problem, "timed_out": timed_out, "reported": reported}:
            raise NoAnswerError(problem, timed_out=timed_out, reported=reported)
        case _:
            raise ToolError(reply["tool"])
