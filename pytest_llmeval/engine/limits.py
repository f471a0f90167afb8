"""Limits of one model: requests in flight and per minute, and their order."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, TypeAlias

from pytest_llmeval.engine.bucket import Bucket
from pytest_llmeval.engine.statistics import CallStatistics
from pytest_llmeval.engine.tickets import Ticket

PAUSE_CAP: Final = 60.0
"""Seconds of one pause, at most, however often the provider prolongs it."""

FIRST_PAUSE: Final = 0.5
"""Seconds of the first pause after a refusal without Retry-After; doubled until a reply."""

DECREASE: Final = 0.5
"""Factor of the allowed concurrency after a burst of refusals."""

ROUNDS_TO_RECOVER: Final = 20
"""Rounds of replies without refusal until the full concurrency is allowed again, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One place among the requests in flight.

    Attributes:
        granted: when it was granted (loop time).
        tokens: expected tokens of its request.
    """

    granted: float
    tokens: int


_Waiter: TypeAlias = tuple[asyncio.Future[Slot], int]


class Limiter:
    """Grants slots: at most `concurrency` in flight, fewer after refusals, paced by rpm and tpm.

    Waiting requests are served by how often they were refused, those that never were first, so that
    one that is always refused does not stand in the way of the others; then urgent ones first, then
    by order. A refusal halves the allowed concurrency, once per burst, and replies let it grow
    again. All requests wait for as long as the provider asked, at most `PAUSE_CAP`.
    """

    def __init__(
        self,
        concurrency: int,
        *,
        rpm: float | None = None,
        tpm: float | None = None,
        statistics: CallStatistics | None = None,
        longest_pause: float = PAUSE_CAP,
    ) -> None:
        """Grant slots for one model.

        Args:
            concurrency: requests in flight, at most.
            rpm: requests per minute, at most; None for any number.
            tpm: tokens per minute, at most; None for any number.
            statistics: gets the time spent waiting.
            longest_pause: seconds of a pause after a refusal without Retry-After, at most.
        """
        self._concurrency, self._longest_pause = concurrency, longest_pause
        self._allowed = float(concurrency)
        self._requests = None if rpm is None else Bucket(rpm)
        self._tokens = None if tpm is None else Bucket(tpm)
        self._statistics = CallStatistics() if statistics is None else statistics
        self._queue: list[tuple[int, bool, int, int, _Waiter]] = []
        self._arrivals = itertools.count()
        self._timer: asyncio.TimerHandle | None = None
        self._stopped: Callable[[], Exception] | None = None
        self._limited_since: float | None = None
        self._decreased = self._pause_start = self._not_before = -PAUSE_CAP
        self.in_flight = self._silent_bursts = 0

    @property
    def allowed(self) -> int:
        """Number of requests that may be in flight now (1..concurrency)."""
        return max(1, int(self._allowed))

    @asynccontextmanager
    async def slot(
        self, ticket: Ticket, *, tokens: int = 0, refusals: int = 0
    ) -> AsyncIterator[Slot]:
        """Hold a slot, once it is this ticket's turn.

        Args:
            ticket: the priority of the request's sample.
            tokens: tokens that the request will take, about.
            refusals: refusals of the request so far.
        """
        slot = await self._acquire(ticket, tokens, refusals)
        try:
            yield slot
        finally:
            self.in_flight -= 1
            self._serve()

    def replied(self, slot: Slot, *, tokens: int) -> None:
        """Note a reply and its actual tokens: they correct the estimate, the concurrency grows."""
        if self._tokens is not None:
            self._tokens.take(tokens - slot.tokens)
        self._silent_bursts = 0
        # A round is as many replies as are allowed in flight.
        step = max(1.0, self._concurrency / ROUNDS_TO_RECOVER) / self._allowed
        self._allowed = min(float(self._concurrency), self._allowed + step)

    def throttled(self, slot: Slot, *, retry_after: float | None) -> bool:
        """Note a refusal (too many requests, overloaded, unreachable): allow fewer, pause all.

        Return whether it begins a new burst of refusals.

        Args:
            slot: the slot of the refused request.
            retry_after: seconds that the provider asks to wait; None for a pause that doubles from
                burst to burst until a reply comes.
        """
        now = asyncio.get_running_loop().time()
        # A request sent before the last decrease does not show its effect.
        new_burst = slot.granted > self._decreased
        if new_burst:
            self._decreased = now
            self._allowed = max(1.0, min(self._allowed, self.in_flight) * DECREASE)
            self._silent_bursts += 1
        if retry_after is None:
            doubled = FIRST_PAUSE * 2.0 ** min(self._silent_bursts - 1, 10)
            retry_after = min(doubled, self._longest_pause) if new_burst else 0.0
        if now >= self._not_before:
            self._pause_start = now
        self._not_before = max(
            self._not_before, min(now + retry_after, self._pause_start + PAUSE_CAP)
        )
        return new_burst

    def resume(self) -> None:
        """End the pause, and allow the full concurrency again."""
        self._allowed = float(self._concurrency)
        self._not_before = -PAUSE_CAP
        self._serve()

    def stop(self, error: Callable[[], Exception]) -> None:
        """Refuse all requests, waiting and new ones, each with a new `error()`."""
        self._stopped = error
        for *_, (future, _) in self._queue:
            if not future.done():
                future.set_exception(error())
        self._queue.clear()

    async def _acquire(self, ticket: Ticket, tokens: int, refusals: int) -> Slot:
        if self._stopped is not None:
            raise self._stopped()
        waiter: _Waiter = (asyncio.get_running_loop().create_future(), tokens)

        def enqueue() -> None:
            # After a change of urgency the old entry stays; it is skipped once its future is done.
            rank = (refusals, not ticket.urgent, ticket.order, next(self._arrivals))
            heapq.heappush(self._queue, (*rank, waiter))

        enqueue()
        ticket.requeue.add(enqueue)
        try:
            self._serve()
            return await waiter[0]
        except asyncio.CancelledError:
            if waiter[0].done() and not waiter[0].cancelled() and waiter[0].exception() is None:
                self.in_flight -= 1
                self._serve()
            raise
        finally:
            ticket.requeue.discard(enqueue)

    def _serve(self) -> None:
        """Grant slots to those whose turn it is; run again when the first one may be granted."""
        now = asyncio.get_running_loop().time()
        while self._queue and self.in_flight < self.allowed:
            future, tokens = self._queue[0][-1]
            if not future.done():
                delay = self._delay(now, tokens)
                if delay > 0:
                    self._wake_after(now, delay)
                    return
                self._grant(future, tokens, now)
            heapq.heappop(self._queue)
        if not self._queue:
            self._limited_since = None

    def _grant(self, future: asyncio.Future[Slot], tokens: int, now: float) -> None:
        if self._requests is not None:
            self._requests.take(1)
        if self._tokens is not None:
            self._tokens.take(tokens)
        if self._limited_since is not None:
            self._statistics.limited_seconds += now - self._limited_since
            self._limited_since = None
        self.in_flight += 1
        self._statistics.peak_in_flight = max(self._statistics.peak_in_flight, self.in_flight)
        future.set_result(Slot(granted=now, tokens=tokens))

    def _delay(self, now: float, tokens: int) -> float:
        return max(
            self._not_before - now,
            0.0 if self._requests is None else self._requests.delay(now, 1),
            0.0 if self._tokens is None else self._tokens.delay(now, tokens),
        )

    def _wake_after(self, now: float, delay: float) -> None:
        if self._limited_since is None:
            self._limited_since = now
        if self._timer is not None:
            self._timer.cancel()
        # The timer may fire slightly early; the margin avoids a busy loop.
        self._timer = asyncio.get_running_loop().call_later(delay + 0.001, self._serve)
