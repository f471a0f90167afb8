"""An event loop whose clock jumps: hours of waiting pass at once, in the order they would have."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

THREAD_SECONDS = 60.0
"""Real seconds that a thread may take while nothing else is scheduled: long, since many tests may
share a core."""


class _JumpingSelector(selectors.DefaultSelector):
    """Instead of waiting for the next timer, it moves the clock there."""

    now = 1000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            if events := super().select(THREAD_SECONDS):
                return events
            msg = "nothing is scheduled any more: the test would hang"
            raise RuntimeError(msg)
        self.now += timeout
        return super().select(0)


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Run in an `asyncio.Runner`; `time()` starts at 1,000 s."""

    def __init__(self) -> None:
        """Put the jumping selector under the loop."""
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` to its end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main)
