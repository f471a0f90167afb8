"""Templates and expressions in a child process that is limited in time and memory.

A few characters of jinja2 can demand any time and memory (``{{ 'a'|center(10**10) }}``), already
when they are compiled. So whatever is not known to be harmless is compiled and run in a child,
which is killed at its limits, and stays for the next template otherwise.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal
from weakref import finalize

from pytest_llmeval.files.child_environment import child_environment

MEMORY_MB: Final = 512
"""Memory of the child at most (address space; macOS does not limit it)."""

CPU_SECONDS: Final = 3
"""Processor time of one request at most."""

WALL_SECONDS: Final = 60.0
"""Wall time of one request at most, for a machine that is busy."""

MAX_CHARACTERS: Final = 10_000_000
"""Characters of a rendered template at most."""


class TemplateLimitError(Exception):
    """A template or an expression exceeded a limit; the message names the limit."""


@dataclass(frozen=True, slots=True)
class RowFailure:
    """A failure for one row.

    Attributes:
        kind: the exception's class, such as ``UndefinedError``.
        message: its message.
        line: line of the template, from 1.
    """

    kind: str
    message: str
    line: int


def run_limited(
    kind: Literal["template", "expression"], text: str, rows: Sequence[Mapping[str, Any]]
) -> list[str | bool | RowFailure]:
    """Return for each row the rendered template, or whether the expression is true.

    Args:
        kind: what `text` is.
        text: the jinja2 text.
        rows: the values of its variables.

    Raises:
        TemplateLimitError: the rows together took more than the time allowed.
    """
    replies = _CHILD.ask(pickle.dumps((kind, text, [dict(row) for row in rows])), len(rows))
    return [
        reply["ok"]
        if "ok" in reply
        else _out_of_memory()
        if reply["failed"] == "MemoryError"
        else RowFailure(reply["failed"], reply["message"], reply["line"])
        for reply in map(json.loads, replies)
    ]


def _out_of_memory() -> RowFailure:
    message = f"it takes more than {MEMORY_MB} MB of memory; make it simpler"
    return RowFailure("MemoryError", message, 1)


class _Child:
    """The child of this process, started by the first request; one request at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def ask(self, frame: bytes, count: int) -> list[bytes]:
        """Return the lines that answer a frame."""
        with self._lock:
            process = self._process or self._start()
            timer = threading.Timer(WALL_SECONDS, process.kill)
            timer.daemon = True
            timer.start()
            try:
                with suppress(OSError):  # a child that has died; told by its missing lines
                    assert process.stdin is not None  # noqa: S101 - a pipe
                    process.stdin.write(len(frame).to_bytes(8, "big") + frame)
                    process.stdin.flush()
                lines: list[bytes] = []
                while len(lines) < count and (line := self._lines.get()) is not None:
                    lines.append(line)
            finally:
                timer.cancel()
            if len(lines) < count:
                self._process = None
                _end(process)
                msg = f"takes more than {CPU_SECONDS} s; make it simpler"
                raise TemplateLimitError(msg)
            return lines

    def _start(self) -> subprocess.Popen[bytes]:
        self._lines = queue.SimpleQueue()
        worker = Path(__file__).with_name("worker.py")
        limits = (MEMORY_MB, CPU_SECONDS, MAX_CHARACTERS)
        self._process = process = subprocess.Popen(  # noqa: S603 - our own file
            [sys.executable, "-P", str(worker), *map(str, limits)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**child_environment(), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # no Ctrl-C; the child ends with its standard input
        )
        finalize(self, _end, process)
        threading.Thread(target=_read, args=(process, self._lines), daemon=True).start()
        return process


def _read(process: subprocess.Popen[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    assert process.stdout is not None  # noqa: S101 - a pipe
    with process.stdout as stream:
        for line in stream:
            lines.put(line)
    lines.put(None)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()


_CHILD: Final = _Child()
