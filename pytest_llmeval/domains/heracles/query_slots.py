"""Slots for queries on one database: a few at once, or one alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

WIDTH: Final = 4
"""Most queries at once.

They take milliseconds of CPU time each; 25 at once on a cold Neo4j exceeded its time limit.
"""


class QuerySlots:
    """`WIDTH` slots; a query holds one of them, or all."""

    def __init__(self) -> None:
        """Begin with all slots free."""
        self._slots = asyncio.Semaphore(WIDTH)
        self._emptying = asyncio.Lock()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Hold one slot."""
        async with self._slots:
            yield

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Hold all slots, so that no other query of this run is under way."""
        async with self._emptying, AsyncExitStack() as stack:
            for _ in range(WIDTH):
                await stack.enter_async_context(self._slots)
            yield
