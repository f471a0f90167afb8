"""One scoring child, on the parent's side: start, requests, limits, end."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pytest_llmeval.errors import ScorerError
from pytest_llmeval.files.child_environment import child_environment
from pytest_llmeval.records import Json
from pytest_llmeval.scoring.eed.sandbox.limits import MEMORY_EXIT, Limits

READY = "ready"

_WORKER = (sys.executable, "-P", "-m", "pytest_llmeval.scoring.eed.sandbox.worker")

# Wall seconds.
_START_SECONDS = 120.0  # until a child is ready; importing sympy takes half a second when idle
_SLOW_SECONDS = 1.0  # after which an evaluation counts as slow, and a spare child is started
_POLL_SECONDS = 0.25  # between two checks of a slow child
_DEATH_SECONDS = 5.0  # from the end of a child's output to the end of its process

_KILOBYTES = 1024


class LimitExceededError(Exception):
    """The child was ended; the message names the limit."""


class Child:
    """A child process; one request at a time."""

    def __init__(self, limits: Limits) -> None:
        """Start the process; it warms up until the first request."""
        self._limits = limits
        self._memory = f"{limits.memory_mb} MB of memory"
        self._wall = f"{limits.wall_seconds:g} s of wall time"
        self._ready = False
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(  # noqa: S603 - our own module, in our own interpreter
            [*_WORKER, json.dumps(limits.to_json())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env={**child_environment(), "PYTHONHASHSEED": "0"},  # sympy orders by hash
            start_new_session=True,  # no Ctrl-C; the child ends with its standard input
        )
        threading.Thread(target=self._read, daemon=True).start()

    def ask(self, request: dict[str, Json], *, when_slow: Callable[[], None]) -> dict[str, Any]:
        """Return the reply.

        Args:
            request: a JSON object, as `worker` takes it.
            when_slow: called once if the evaluation takes more than a second.

        Raises:
            LimitExceededError: the child was ended by a limit, or died.
            ScorerError: the child did not start.
        """
        self._await_start()
        try:
            if self._process.stdin is not None:
                self._process.stdin.write(f"{json.dumps(request)}\n")
                self._process.stdin.flush()
        except OSError:
            raise LimitExceededError(self._death()) from None
        line = self._await_reply(when_slow)
        if line is None:
            raise LimitExceededError(self._death())
        reply: dict[str, Any] = json.loads(line)
        return reply

    @property
    def running(self) -> bool:
        """Whether the process is alive."""
        return self._process.poll() is None

    def end(self) -> None:
        """Kill the process, unless it has ended."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            with suppress(OSError):  # a request that could not be written
                self._process.stdin.close()

    def _read(self) -> None:
        if self._process.stdout is not None:
            with self._process.stdout as lines:
                for line in lines:
                    self._lines.put(line)
        self._lines.put(None)

    def _await_start(self) -> None:
        if self._ready:
            return
        try:
            line = self._lines.get(timeout=_START_SECONDS)
        except queue.Empty:
            line = None
        if line is None or line.strip() != READY:
            self.end()
            msg = (
                "the EED worker did not start; "
                "`python -m pytest_llmeval.scoring.eed.sandbox.worker '{}'` shows why"
            )
            raise ScorerError(msg)
        self._ready = True

    def _await_reply(self, when_slow: Callable[[], None]) -> str | None:
        """Return the line of the reply; None if the child has ended."""
        start = time.monotonic()
        try:
            return self._lines.get(timeout=min(_SLOW_SECONDS, self._limits.wall_seconds))
        except queue.Empty:
            when_slow()
        while time.monotonic() - start < self._limits.wall_seconds:
            try:
                return self._lines.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                if (
                    sys.platform == "darwin"
                    and _resident_megabytes(self._process.pid) > self._limits.memory_mb
                ):
                    self.end()
                    raise LimitExceededError(self._memory) from None
        self.end()
        raise LimitExceededError(self._wall)

    def _death(self) -> str:
        """Return why a child that has closed its output ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=_DEATH_SECONDS)
        self.end()
        status = self._process.returncode
        if status == MEMORY_EXIT:
            return self._memory
        if sys.platform != "win32" and status in (-signal.SIGXCPU, -signal.SIGPROF):
            return f"{self._limits.cpu_seconds:g} s of CPU time"
        return f"the evaluation died with status {status}"


def _resident_megabytes(pid: int) -> float:
    """Return the resident memory of a process, 0 if it has ended (macOS cannot limit it)."""
    shown = subprocess.run(  # noqa: S603 - fixed arguments
        ["ps", "-o", "rss=", "-p", str(pid)],  # noqa: S607 - found by PATH on every system
        capture_output=True,
        text=True,
        check=False,
    )
    return int(shown.stdout.strip() or 0) / _KILOBYTES
