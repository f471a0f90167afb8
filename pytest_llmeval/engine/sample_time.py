"""The time that one sample may take."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext


class SampleTime:
    """A number of seconds from a sample's first request on, so that queueing takes none of it.

    Waiting for a batch takes none of it either. Solving and judging share it. Belongs to the event
    loop.
    """

    def __init__(self, seconds: float | None) -> None:
        """Set the limit in seconds; None means no limit."""
        self._seconds = seconds
        self._end: float | None = None
        self._limited: asyncio.Timeout | None = None
        self._holds, self._held_since = 0, 0.0

    def start(self) -> None:
        """Start the clock; only the first call counts."""
        if self._seconds is None or self._end is not None:
            return
        self._held_since = asyncio.get_running_loop().time()
        self._end = self._held_since + self._seconds
        self._reschedule()

    def hold(self, on: bool) -> None:  # noqa: FBT001 - the callback `Ticket.on_hold`
        """Stop the clock while one request or several wait for batches, and let it go on then."""
        now = asyncio.get_running_loop().time()
        self._holds += 1 if on else -1
        if on and self._holds == 1:
            self._held_since = now
        elif not self._holds and self._end is not None:
            self._end += now - self._held_since
        self._reschedule()

    def limit(self) -> AbstractAsyncContextManager[None]:
        """End a block by TimeoutError when the time is over."""
        return nullcontext() if self._seconds is None else self._block()

    @asynccontextmanager
    async def _block(self) -> AsyncIterator[None]:
        async with asyncio.timeout_at(self._end) as self._limited:
            self._reschedule()
            yield
        self._limited = None

    def _reschedule(self) -> None:
        if self._limited is not None and not self._limited.expired():
            self._limited.reschedule(None if self._holds else self._end)
