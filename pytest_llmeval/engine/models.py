"""The run's models: each behind one gateway, with the completions store before it and single flight around it."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pytest_llmeval.engine.cache import Cache
from pytest_llmeval.engine.completions import CompletionStore, StoredReply
from pytest_llmeval.engine.flights import Flight
from pytest_llmeval.engine.gateway import Gateway
from pytest_llmeval.engine.replay import Recorder
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.engine.statistics import Effort
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import LLMEvalError, ModelLost, ProviderError, RunStopped
from pytest_llmeval.records import Reply, Request, Usage

_CLOSING = "the run is over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A reply and where it came from.

    `cached`: no call was made; `age`: seconds since a stored reply was stored, None for a fresh
    one; `other_run`: another run made it.
    """

    reply: Reply
    cached: bool
    age: float | None
    attempts: int
    other_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """How the calls stand: requests with providers now, and what all replies used so far."""

    in_flight: int = 0
    usage: Usage = field(default_factory=Usage)


class Models:
    """Answers requests: from the store, from an equal request in flight, or by a call."""

    def __init__(
        self,
        open_gateway: Callable[[ModelSpec], Gateway],
        store: CompletionStore,
        recorder: Recorder | None,
        *,
        cache: Cache | None = None,
        started: float = 0.0,
    ) -> None:
        """Open gateways on first use by `open_gateway`; keep replies in `store`, and in `recorder` if given.

        What the run lacks may come from `cache`, which gets its live replies. A reply older than
        `started`, when the run first began (s since 1970), is another run's.
        """
        self._open_gateway, self._store, self._recorder = open_gateway, store, recorder
        self._cache, self._started = cache, started
        self._gateways: dict[ModelSpec, Gateway] = {}
        self._flights: dict[str, Flight[Answer]] = {}
        self._from_store = self._from_cache = 0
        self._closing = False
        self.lost: dict[ModelSpec, str] = {}
        """Why models can serve nobody any more: they could not be opened, or a failure ended
        them."""

    async def ask(self, spec: ModelSpec, request: Request, ticket: Ticket) -> Answer:
        """Return the answer to one request.

        Raises what the gateway raises, and ModelLost once a model is.

        Whoever asks an equal request meanwhile waits for the same call; if one of them is cancelled
        it goes on for the others. A request that was sent goes on for nobody, and its reply is
        stored, for it is paid.
        """
        key = request.key
        if self._closing:
            raise RunStopped(_CLOSING)
        if (stored := self._store.get(key) or self._cached(spec, request)) is not None:
            return self._answer_stored(spec, request, stored)
        flight = self._flights.get(key)
        if flight is None or not flight.open:
            flight = self._start(key, spec, request, ticket.order)
        return await flight.wait(ticket)

    @property
    def gauge(self) -> Gauge:
        """How things stand. May be read from any thread."""
        gateways = list(self._gateways.values())
        return Gauge(
            in_flight=sum(gateway.in_flight for gateway in gateways),
            usage=sum((gateway.usage for gateway in gateways), Usage()),
        )

    @property
    def effort(self) -> Effort:
        """What the live models were asked; a recording is nobody's effort."""
        live = {
            spec.label: gateway.statistics
            for spec, gateway in self._gateways.items()
            if not spec.recorded
        }
        return Effort(models=live, from_store=self._from_store, from_cache=self._from_cache)

    def cancel(self) -> None:
        """Wait for no reply any more."""
        for flight in self._flights.values():
            flight.task.cancel()

    async def close(self, *, grace: float = 0.0) -> None:
        """Send nothing more, keep the replies that come within `grace` seconds, and close gateways and files."""
        self._closing = True
        tasks = [flight.task for flight in self._flights.values()]
        for flight in self._flights.values():
            flight.give_up()
        if tasks:
            await asyncio.wait(tasks, timeout=grace)
        self.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        closing = (gateway.close() for gateway in self._gateways.values())
        await asyncio.gather(*closing, return_exceptions=True)
        for file in (self._store, self._cache, self._recorder):
            if file is not None:
                file.close()

    def _answer_stored(self, spec: ModelSpec, request: Request, stored: StoredReply) -> Answer:
        self._record(spec, request, stored.reply)
        other_run = stored.created < self._started
        self._from_store += not (spec.recorded or other_run)
        self._from_cache += other_run and not spec.recorded
        age = max(0.0, time.time() - stored.created)
        return Answer(reply=stored.reply, cached=True, age=age, attempts=0, other_run=other_run)

    def _start(self, key: str, spec: ModelSpec, request: Request, order: int) -> Flight[Answer]:
        def landed(_: asyncio.Task[Answer]) -> None:
            if self._flights.get(key) is flight:
                del self._flights[key]

        flight = Flight(lambda ticket: self._call(spec, request, ticket), order)
        flight.task.add_done_callback(landed)
        self._flights[key] = flight
        return flight

    async def _call(self, spec: ModelSpec, request: Request, ticket: Ticket) -> Answer:
        try:
            if spec not in self._gateways:
                self._gateways[spec] = self._open_gateway(spec)
            reply, attempts = await self._gateways[spec].ask(request, ticket)
        except LLMEvalError as error:
            if spec in self._gateways and not (
                isinstance(error, ProviderError) and error.reach == "model"
            ):
                raise
            if (reason := self.lost.get(spec)) is not None:
                raise ModelLost(reason) from None
            self.lost[spec] = str(error).partition("\n")[0]
            raise
        with _keeping():
            self._store.put(request, reply)
            self._record(spec, request, reply)
            if self._cache is not None and not spec.recorded:
                self._cache.put(request, reply)
        return Answer(reply=reply, cached=False, age=None, attempts=attempts)

    def _cached(self, spec: ModelSpec, request: Request) -> StoredReply | None:
        """Return another run's reply, from now on this run's too."""
        if self._cache is None or spec.recorded:
            return None
        with _keeping():
            if (found := self._cache.get(request)) is not None:
                self._store.put(request, found.reply)
        return found

    def _record(self, spec: ModelSpec, request: Request, reply: Reply) -> None:
        if self._recorder is not None:
            self._recorder.record(request, reply, model=spec.label)


@contextmanager
def _keeping() -> Iterator[None]:
    """End the run when replies cannot be kept: they would be paid in vain."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        msg = f"replies cannot be kept any more: {error}"
        raise RunStopped(msg) from error
