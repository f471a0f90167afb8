"""Child processes that answer one request at a time, and are killed at their limits.

A request and its replies are frames: 8 bytes of length, big-endian, then the content. A child is a
file of Python that writes an empty frame once it is ready, and then its replies to each frame that
it reads from standard input, until that ends. It limits its own memory and processor time.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final
from weakref import WeakSet, finalize

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.child_environment import child_environment

_LENGTH: Final = 8


class ChildEndedError(Exception):
    """The child died or was killed before it had replied; another one answers the next request.

    Attributes:
        late: whether it took too much time, of the processor or of the clock.
    """

    def __init__(self, *, late: bool) -> None:
        """Store how the child ended."""
        super().__init__("it took too long" if late else "it died")
        self.late = late


class ChildPool:
    """A fixed number of children; thread-safe, each started by the first request that needs it."""

    def __init__(
        self,
        script: Path,
        arguments: Sequence[object],
        *,
        processes: int,
        wall_seconds: float,
        max_reply: int,
    ) -> None:
        """Create the pool; no child is started yet.

        Args:
            script: the child's file.
            arguments: its arguments.
            processes: number of children; further requests wait for one.
            wall_seconds: wall time of one request at most, for a child that hangs.
            max_reply: bytes of one reply at most.
        """
        self._command = [sys.executable, "-P", str(script), *map(str, arguments)]
        self._wall_seconds, self._max_reply = wall_seconds, max_reply
        self._slots = threading.BoundedSemaphore(processes)
        self._lock = threading.Lock()
        self._idle: list[_Child] = []
        self._children: WeakSet[_Child] = WeakSet()
        self._ended = False

    def ask(self, request: bytes, *, replies: int = 1) -> list[bytes]:
        """Return the replies to a request, as many as the child writes for it.

        Raises:
            ChildEndedError: the child died, or was killed at a limit.
            UsageError: it did not start.
        """
        with self._slots:
            child = self._taken()
            try:
                with child.deadline(self._wall_seconds):
                    found = list(child.each(request, replies, self._max_reply))
            except BaseException:
                child.end()
                raise
            with self._lock:
                self._idle.append(child)
            return found

    def each(self, request: bytes, replies: int) -> Iterator[bytes]:
        """Yield the replies to a request as the child writes them.

        Each reply may take as much wall time as a request of `ask`. A child whose replies are not
        all fetched is killed.

        Raises:
            ChildEndedError: the child died, or was killed at a limit; what it wrote before has been
                yielded.
            UsageError: it did not start.
        """
        with self._slots:
            child = self._taken()
            try:
                with child.deadline(self._wall_seconds) as begin_anew:
                    for reply in child.each(request, replies, self._max_reply):
                        yield reply
                        begin_anew()
            except BaseException:
                child.end()
                raise
            with self._lock:
                self._idle.append(child)

    def close(self) -> None:
        """End the children that are idle; a later request starts new ones."""
        with self._lock:
            while self._idle:
                self._idle.pop().end()

    def end(self) -> None:
        """End all children for good; their requests, and later ones, raise ChildEndedError."""
        with self._lock:
            self._ended = True
            for child in self._children:
                child.kill()
        self.close()

    def _taken(self) -> _Child:
        with self._lock:
            if self._ended:
                raise ChildEndedError(late=False)
            while self._idle:
                child = self._idle.pop()
                if child.running:
                    return child
                child.end()  # it died while idle, through no fault of this request
            child = _Child(self._command)
            self._children.add(child)
        try:
            with child.deadline(self._wall_seconds):
                child.await_start()
        except BaseException:
            child.end()
            raise
        return child


class _Child:
    """One child process."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command, self._late = command, False
        self._process = subprocess.Popen(  # noqa: S603 - our own file
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**child_environment(), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # no Ctrl-C; the child ends with its standard input
        )
        assert self._process.stdin is not None  # noqa: S101 - a pipe
        assert self._process.stdout is not None  # noqa: S101 - a pipe
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        finalize(self, _end, self._process)

    @property
    def running(self) -> bool:
        """Whether the process is alive."""
        return self._process.poll() is None

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[Callable[[], None]]:
        """Kill the process if it is not done in time; calling what is yielded begins it anew."""
        done, end = threading.Event(), time.monotonic() + seconds

        def begin_anew() -> None:
            nonlocal end
            end = time.monotonic() + seconds

        def watch() -> None:
            while not done.wait(max(0.0, end - time.monotonic())):
                if time.monotonic() >= end:
                    self._late = True
                    self.kill()
                    return

        threading.Thread(target=watch, daemon=True).start()
        try:
            yield begin_anew
        finally:
            done.set()

    def await_start(self) -> None:
        """Wait until the child is ready; UsageError if it does not start."""
        if _frame(self._stdout, 0) is None:
            msg = f"a child process did not start; `{shlex.join(self._command)}` shows why"
            raise UsageError(msg)

    def each(self, request: bytes, replies: int, max_reply: int) -> Iterator[bytes]:
        """Yield the replies to a request; ChildEndedError if one is missing."""
        with suppress(OSError):  # a child that has died; told by its missing replies
            self._stdin.write(len(request).to_bytes(_LENGTH, "big"))
            self._stdin.write(request)
            self._stdin.flush()
        for _ in range(replies):
            frame = _frame(self._stdout, max_reply)
            if frame is None:
                self.end()
                late = self._late or self._process.returncode == -getattr(signal, "SIGXCPU", 0)
                raise ChildEndedError(late=late)
            yield frame

    def kill(self) -> None:
        """Kill the process, unless it has ended; its streams stay open for who reads them."""
        self._process.kill()

    def end(self) -> None:
        """Kill the process, unless it has ended, and close its streams."""
        _end(self._process)


def _frame(stream: IO[bytes], most: int) -> bytes | None:
    """Return the next frame; None if the stream ends before, or claims more bytes than `most`."""
    head = stream.read(_LENGTH)
    length = int.from_bytes(head, "big")
    if len(head) < _LENGTH or length > most:
        return None
    content = stream.read(length)
    return content if len(content) == length else None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # a request that could not be written
                stream.close()
