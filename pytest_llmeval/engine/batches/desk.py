"""The desk of one model: it hands requests to the outbox, and results to who waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, Final

from pytest_llmeval.engine.batches.dispatch import Dispatch
from pytest_llmeval.engine.batches.failures import copy_of, of_model, without_result
from pytest_llmeval.engine.batches.following import Following
from pytest_llmeval.engine.batches.journal import BatchJournal
from pytest_llmeval.engine.batches.outbox import Outbox
from pytest_llmeval.engine.batches.part import Part
from pytest_llmeval.engine.batches.ports import BatchService, BatchState
from pytest_llmeval.engine.batches.settings import BatchSettings
from pytest_llmeval.engine.batches.stored_batch import StoredBatch
from pytest_llmeval.errors import LLMEvalError, ProviderError
from pytest_llmeval.records import Request

_AT_A_TIME: Final = 200
"""Results that are handed out before other work of the event loop has its turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskParts:
    """What a desk works with, all for one model.

    Attributes:
        model: the model's label, for messages.
        service: the provider's batch API.
        journal: where batches are written down.
        dispatch: makes batches.
        following: waits for them.
        settings: how batches are waited for.
        tell: shows a line to the user.
    """

    model: str
    service: BatchService
    journal: BatchJournal
    dispatch: Dispatch
    following: Following
    settings: BatchSettings
    tell: Callable[[str], None]


class Desk:
    """Belongs to the event loop.

    Attributes:
        sent: batches that were made, or gone on with, in this session.
        ended: those of them that have ended.
    """

    def __init__(self, parts: DeskParts, earlier: Iterable[StoredBatch]) -> None:
        """Begin with the batches of earlier sessions, which are asked about once one is wanted."""
        self._parts = parts
        gather = parts.settings.gather
        self._outbox = Outbox(parts.service, self._send, self._start, gather=gather)
        self._waiting: dict[str, tuple[Request, asyncio.Future[str]]] = {}
        self._earlier = {batch.mark: batch for batch in earlier if not batch.is_read}
        self._placed = {key: one.mark for one in self._earlier.values() for key in one.keys}
        self._tasks: set[asyncio.Task[None]] = set()
        self._over: Callable[[], LLMEvalError] | None = None
        self.sent = self.ended = 0

    @property
    def waiting(self) -> int:
        """Number of requests that wait for a batch."""
        return len(self._waiting)

    @property
    def busy(self) -> bool:
        """Whether requests wait that are not sent yet."""
        return self._outbox.busy

    async def line(self, request: Request) -> str:
        """Return the line of results of a request, once its batch has ended.

        Raises:
            ProviderError: the batch brought none.
            RunStopped: the run does not wait any longer.
        """
        key = request.key
        if self._over is not None:
            raise self._over()
        if (line := self._parts.journal.result(key)) is not None:
            return line
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting[key] = (request, future)
        mark = self._placed.get(key)
        if mark is None:
            self._outbox.add(request)
        elif (batch := self._earlier.pop(mark, None)) is not None:
            self._follow(batch)
        try:
            return await future
        finally:
            self._waiting.pop(key, None)
            self._outbox.discard(key)

    def forget(self, request: Request) -> None:
        """Forget the result of a request that failed, so that it may be sent again."""
        self._parts.journal.forget(request.key)

    def stop(self, error: Callable[[], LLMEvalError]) -> None:
        """Send nothing more, and end all waits with a new `error()` each."""
        self._over = error
        self._outbox.clear()
        for _, future in self._waiting.values():
            if not future.done():
                future.set_exception(error())

    async def close(self) -> None:
        """Wait for nothing more; the batches go on at the provider."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._parts.service.close()

    async def _send(self, part: Part) -> None:
        for key, error in part.failed.items():
            self._fail(key, error)
        if not part.keys:
            return
        try:
            batch = await self._parts.dispatch.send(part)
        except ProviderError as error:
            self._lose(error)
            return
        count = len(batch.keys)
        name = f"batch {batch.id}".rstrip()
        self._parts.tell(f"{name} of {count:,} requests sent to {self._parts.model}")
        self._placed |= dict.fromkeys(batch.keys, batch.mark)
        self._follow(batch)

    def _follow(self, batch: StoredBatch) -> None:
        self.sent += 1
        self._outbox.out += len(batch.keys)
        self._start(self._followed(batch))

    async def _followed(self, batch: StoredBatch) -> None:
        try:
            state = await self._parts.following.end_of(batch)
        except ProviderError as error:
            self._lose(of_model(error))
            return
        self.ended += 1
        for key in batch.keys:
            self._placed.pop(key, None)
        if state is None or state.refused:
            self._parts.journal.drop(batch.mark)
        else:
            self._parts.journal.read(batch.mark)
        await self._ended(batch, state)
        self._outbox.out -= len(batch.keys)
        await self._outbox.flush()

    async def _ended(self, batch: StoredBatch, state: BatchState | None) -> None:
        """Do what the end of a batch means to the requests in it."""
        if state is None:
            self._again(batch.keys)
        elif state.crowded and self._outbox.out > 1:
            self._outbox.shrink()
            await asyncio.sleep(self._parts.settings.poll)
            self._again(batch.keys)
        elif state.refused:
            reason = f"{self._parts.model}: the batch was refused: {state.refused}"
            self._lose(ProviderError(reason, reach="model", cause="batch"))
        else:
            await self._hand_out(batch, state)

    async def _hand_out(self, batch: StoredBatch, state: BatchState) -> None:
        for count, key in enumerate(batch.keys):
            if (line := self._parts.journal.result(key)) is None:
                self._fail(key, without_result(state, self._parts.model))
            elif (found := self._waiting.get(key)) is not None and not found[1].done():
                found[1].set_result(line)
            if count % _AT_A_TIME == _AT_A_TIME - 1:
                await asyncio.sleep(0)

    def _again(self, keys: Iterable[str]) -> None:
        """Send requests that no batch holds any more once more."""
        for key in keys:
            if (found := self._waiting.get(key)) is not None:
                self._outbox.add(found[0])

    def _lose(self, error: ProviderError) -> None:
        """End all requests by a failure of the model."""
        self.stop(lambda: copy_of(error))

    def _fail(self, key: str, error: ProviderError) -> None:
        found = self._waiting.get(key)
        if found is not None and not found[1].done():
            found[1].set_exception(copy_of(error))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended_task)

    def _ended_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            # Such as a disk that is full: nothing more can be paid safely.
            problem = f"{self._parts.model}: batches cannot go on: {error}"
            self.stop(lambda: ProviderError(problem, reach="model", cause="batch"))
