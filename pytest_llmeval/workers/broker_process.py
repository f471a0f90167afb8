"""The broker as the main process sees it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Condition, Thread
from typing import IO, Final

from pytest_llmeval.errors import UsageError
from pytest_llmeval.workers.order import Event, Order

_BEGINNING: Final = 60.0
"""Seconds that joining a cluster may take, beside the start of workers."""

_FAREWELL: Final = 10.0
"""Seconds that the broker may take to end."""

_SAID: Final = 1000
"""Bytes of the broker's standard error that a message quotes."""


class BrokerProcess:
    """A child that starts workers and reports what happens to them."""

    def __init__(self, order: Order, environment: Mapping[str, str]) -> None:
        """Start it with an environment, which commands that start workers inherit."""
        package, inherited = str(Path(__file__).parents[2]), environment.get("PYTHONPATH")
        self._wait = order.spec.wait
        self._events: dict[int, list[Event]] = defaultdict(list)
        self._first: Event | None = None
        self._over = False
        self._changed = Condition()
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pytest_llmeval.workers.broker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env={
                **environment,
                "PYTHONPATH": os.pathsep.join(filter(None, [package, inherited])),
            },
            start_new_session=True,
        )
        assert self._process.stdin  # noqa: S101 - a pipe, as started
        # One that has ended at once reads nothing; `ready` says how it ended.
        with suppress(BrokenPipeError):
            self._process.stdin.write(order.to_line())
            self._process.stdin.flush()
        self._reader = Thread(target=self._read, daemon=True, name="llmeval-broker")
        self._reader.start()

    def ready(self) -> tuple[str, ...]:
        """Wait until all workers have started; return their machines.

        Raises:
            UsageError: they cannot be started.
        """
        deadline = time.monotonic() + self._wait + _BEGINNING
        with self._changed:
            # In short steps: on some platforms a wait without end takes no Ctrl-C.
            while self._first is None and not self._over and time.monotonic() < deadline:
                self._changed.wait(0.5)
            first = self._first
        if first is None:
            msg = f"--llmeval-workers: the broker of the workers {self._end()}"
            raise UsageError(msg)
        if first.kind == "failed":
            msg = f"--llmeval-workers: {first.why}"
            raise UsageError(msg)
        return first.hosts

    def ending(self, slot: int, *, within: float = 5.0) -> Event:
        """Return what ended the worker in a slot; wait for the broker's report of it."""
        deadline = time.monotonic() + within
        with self._changed:
            while not self._events[slot] and not self._over:
                if (left := deadline - time.monotonic()) <= 0:
                    break
                self._changed.wait(left)
            if self._events[slot]:
                return self._events[slot].pop(0)
            if self._over:
                why = f"the broker of the workers {self._end()}"
                return Event(kind="lost", slot=slot, why=why)
        return Event(kind="crashed", slot=slot, why="its process ended", replaced=True)

    def close(self) -> None:
        """End it, and with it all workers."""
        assert self._process.stdin and self._process.stdout  # noqa: S101, PT018 - pipes
        self._process.stdin.close()
        try:
            self._process.wait(_FAREWELL)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        self._process.stdout.close()
        self._said.close()

    def _read(self) -> None:
        assert self._process.stdout  # noqa: S101 - a pipe, as started
        for line in self._process.stdout:
            event = Event.from_line(line)
            with self._changed:
                if event.kind in {"ready", "failed"}:
                    self._first = event
                else:
                    self._events[event.slot].append(event)
                self._changed.notify_all()
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _end(self) -> str:
        """Return how it ended, or that it has not."""
        status = self._process.poll()
        self._said.seek(max(0, self._said.seek(0, os.SEEK_END) - _SAID))
        said = self._said.read().decode(errors="replace").strip()
        state = "does not answer" if status is None else f"ended with status {status}"
        return f"{state}: {said}" if said else state


def socket_folder() -> Path:
    """Return a new folder for the broker's socket, which only this user may enter.

    Its path is short, as the paths of sockets must be.
    """
    place = tempfile.mkdtemp(prefix="llmeval-")
    if len(place) > 80:  # noqa: PLR2004 - sockets' paths have 104 bytes on macOS, 108 on Linux
        shutil.rmtree(place)
        place = tempfile.mkdtemp(prefix="llmeval-", dir="/tmp")
    return Path(place)
