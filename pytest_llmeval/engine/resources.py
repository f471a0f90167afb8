"""Objects that the samples of a run share, such as a database or a child process."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, TypeVar, cast

T = TypeVar("T")


class Resources:
    """Starts each shared object once, for the first caller of its key, and closes all of them."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._started: dict[str, asyncio.Task[Any]] = {}

    async def get(self, key: str, start: Callable[[], Awaitable[T]]) -> T:
        """Return the object under `key`, made by the first caller's `start`.

        If `start` raises an error, every caller gets it.
        """
        if key not in self._started:
            self._started[key] = asyncio.ensure_future(_awaited(start))
        return cast("T", await asyncio.shield(self._started[key]))

    async def close(self) -> None:
        """Cancel unfinished starts, and close the objects that have a method `close`, all of them.

        If one raises an error, it is raised after the others are closed.
        """
        for starting in self._started.values():
            starting.cancel()
        found = await asyncio.gather(*self._started.values(), return_exceptions=True)
        async with AsyncExitStack() as ends:
            for resource in found:
                if hasattr(resource, "close") and not isinstance(resource, BaseException):
                    ends.push_async_callback(_closed, resource)


async def _closed(resource: Any) -> None:  # noqa: ANN401 - whatever a solver shares
    closing = resource.close()
    if inspect.isawaitable(closing):
        await closing


async def _awaited(start: Callable[[], Awaitable[T]]) -> T:
    return await start()
