"""The turns in which two threads of one process compute: that of the tests, and the engine's.

Python lets one thread compute at a time. Where both want to, each takes Python's lock from the
other at its every system call, mostly on another processor, which costs a tenth of the CPU time.
So they take turns here: the engine works off what has come in, while the tests' thread stands still
between two tests. Turns are a matter of speed alone: all waits are short, and who has waited too
long goes on beside the other.
"""

from __future__ import annotations

import selectors
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Lock
from typing import Final

SLICE: Final = 0.005
"""Seconds between two turns of the engine that the tests' thread gives, at least."""

PATIENCE: Final = 0.02
"""Seconds that the engine waits for its turn, at most: the body of a test may compute for long."""

LONGEST: Final = 0.1
"""Seconds that the tests' thread stands still for one turn of the engine, at most."""


class Turns:
    """Whose turn it is. The engine's begins and ends in its selector."""

    def __init__(
        self, *, slice_: float = SLICE, patience: float = PATIENCE, longest: float = LONGEST
    ) -> None:
        """Begin with an engine without work, and with tests that do not compute yet.

        The arguments are in seconds; see the constants.
        """
        self._slice, self._patience, self._longest = slice_, patience, longest
        # Taken as itself, not through the condition: no signal interrupts between its being taken
        # and the block that gives it back.
        self._lock = Lock()
        self._changed = Condition(self._lock)
        self._tests_compute = self._engine_wants = False
        self._given = 0.0

    def give(self) -> None:
        """Let the engine work now, if it wants to and its last turn is a while ago.

        Called by the tests' thread when it asks for something.
        """
        if self._engine_wants and time.monotonic() - self._given >= self._slice:
            with self.aside():
                pass
        else:
            self._tests_compute = True

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let the engine work while the tests' thread waits in the block, and to its turn's end."""
        with self._lock:
            self._tests_compute = False
            self._changed.notify()
        try:
            yield
        finally:
            with self._lock:
                self._changed.wait_for(lambda: not self._engine_wants, self._longest)
                self._tests_compute, self._given = True, time.monotonic()

    def begin(self) -> None:
        """Begin a turn of the engine, as soon as the tests' thread gives it or waits anyway."""
        with self._lock:
            self._engine_wants = True
            if not self._changed.wait_for(lambda: not self._tests_compute, self._patience):
                # It computes for longer. Until it asks for something the engine does not wait.
                self._tests_compute = False

    def end(self) -> None:
        """End the engine's turn; it waits for something to come in."""
        with self._lock:
            self._engine_wants = False
            self._changed.notify()


class TurnSelector(selectors.DefaultSelector):
    """The selector of the engine's event loop, in which the loop waits when nothing is to do."""

    def __init__(self, turns: Turns) -> None:
        """Take a turn for all that is to be done between two waits."""
        super().__init__()
        self._turns = turns

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for files to be ready, for `timeout` seconds at most; 0 is within a turn."""
        if timeout == 0:
            return super().select(timeout)
        self._turns.end()
        try:
            return super().select(timeout)
        finally:
            self._turns.begin()
