"""Calls of other threads into an event loop: however many wait, they wake it once."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any


class Inbox:
    """Calls that an event loop is to make, in the order of `post`.

    Waking a loop takes a system call and hands it Python's lock, which costs more than most calls.
    A loop that is awake, or has been woken, is not woken again.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Post to `loop`."""
        self._loop = loop
        self._calls: deque[Callable[[], Any]] = deque()
        self._woken = False

    def post(self, call: Callable[[], Any]) -> None:
        """Let the loop make a call; from any thread. RuntimeError if the loop is closed."""
        self._calls.append(call)
        if not self._woken:
            self._woken = True
            self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        # First, so that a call which is posted from now on wakes the loop again.
        self._woken = False
        try:
            while self._calls:
                self._calls.popleft()()
        finally:
            # The loop reports what one call raised, and goes on with the next.
            if self._calls:
                self._loop.call_soon(self._deliver)
