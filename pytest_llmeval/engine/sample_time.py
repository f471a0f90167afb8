"""The time that one sample may take."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class SampleTime:
    """A number of seconds from a sample's first request on, so that queueing takes none of it.

    Solving and judging share it. Belongs to the event loop.
    """

    def __init__(self, seconds: float | None) -> None:
        """Set the limit in seconds; None means no limit."""
        self._seconds = seconds
        self._end: float | None = None
        self._limited: asyncio.Timeout | None = None

    def start(self) -> None:
        """Start the clock; only the first call counts."""
        if self._seconds is None or self._end is not None:
            return
        self._end = asyncio.get_running_loop().time() + self._seconds
        if self._limited is not None:
            self._limited.reschedule(self._end)

    @asynccontextmanager
    async def limit(self) -> AsyncIterator[None]:
        """End a block by TimeoutError when the time is over."""
        async with asyncio.timeout_at(self._end) as self._limited:
            yield
