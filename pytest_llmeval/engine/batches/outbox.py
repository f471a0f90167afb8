"""The requests to one model that wait to be sent: gathered, and written in parts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import closing
from typing import Any, Final

from pytest_llmeval.engine.batches.part import Part, written
from pytest_llmeval.engine.batches.ports import BatchService
from pytest_llmeval.engine.batches.settings import LONGEST_GATHER
from pytest_llmeval.records import Request

_NO_LIMIT: Final = 10**9


class Outbox:
    """Sends requests once no further ones come, one batch after the other.

    Attributes:
        most: requests that may be with the provider at a time.
        out: requests that are there now.
    """

    def __init__(
        self,
        service: BatchService,
        send: Callable[[Part], Awaitable[None]],
        start: Callable[[Coroutine[Any, Any, None]], None],
        *,
        gather: float,
    ) -> None:
        """Begin empty.

        Args:
            service: writes requests.
            send: sends a part, with the requests of which none could be written.
            start: runs a coroutine beside others.
            gather: seconds without a further request after which those that came are sent.
        """
        self._service, self._send, self._start, self._gather = service, send, start, gather
        self._queue: dict[str, Request] = {}
        self._sending = asyncio.Lock()
        self._gathering = False
        self.most, self.out = _NO_LIMIT, 0

    @property
    def busy(self) -> bool:
        """Whether requests wait here, or are being sent."""
        return bool(self._queue) or self._sending.locked()

    def add(self, request: Request) -> None:
        """Send a request with the others that come now."""
        self._queue[request.key] = request
        if not self._gathering:
            self._gathering = True
            self._start(self._gathered())

    def discard(self, key: str) -> None:
        """Do not send a request, if it is still here."""
        self._queue.pop(key, None)

    def clear(self) -> None:
        """Send none of the requests that are still here."""
        self._queue.clear()

    def shrink(self) -> None:
        """Let half as many requests be with the provider as are there now."""
        self.most = max(1, self.out // 2)

    async def flush(self) -> None:
        """Send what has waited for others to end; what is being gathered follows by itself."""
        if not self._gathering:
            await self._send_all()

    async def _gathered(self) -> None:
        for _ in range(LONGEST_GATHER):
            before = len(self._queue)
            await asyncio.sleep(self._gather)
            if len(self._queue) == before:
                break
        self._gathering = False
        await self._send_all()

    async def _send_all(self) -> None:
        async with self._sending:
            while self._queue and (room := self.most - self.out) > 0:
                part = await written(self._service, list(self._queue.values()), room)
                with closing(part):
                    for key in (*part.failed, *part.keys):
                        self._queue.pop(key, None)
                    await self._send(part)
