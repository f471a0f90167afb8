"""The run's models: each behind one gateway; stored replies and equal requests save calls."""

from __future__ import annotations

import asyncio
import math
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, Protocol

from msgspec.structs import replace

from pytest_llmeval.engine.batches.batches import Batches
from pytest_llmeval.engine.batches.gauge import BatchGauge
from pytest_llmeval.engine.flights import Flight
from pytest_llmeval.engine.replies.ports import ReplyKeeper, ReplySource
from pytest_llmeval.engine.replies.store import ReplyStore
from pytest_llmeval.engine.replies.stored_reply import StoredReply
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.engine.statistics import CallStatistics, Effort
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import (
    FailedAttempt,
    LLMEvalError,
    ModelLost,
    ModelSilent,
    ProviderError,
    RunStopped,
)
from pytest_llmeval.files.writes import Writes
from pytest_llmeval.records import Reply, Request, Role, Usage

_CLOSING: Final = "the run is over"
_STORED: Final = "replies"
_Loss = Literal["model", "silent", "pictures"]
_REASONS: Final[Mapping[_Loss, str]] = MappingProxyType(
    {
        "model": "its {0} is lost",
        "silent": "its {0} is silent",
        "pictures": "its pictures are not sent",
    }
)
_NO_ENDPOINTS: Final[Mapping[str, str]] = MappingProxyType({})


class Way(Protocol):
    """The way to one model: a `Gateway`, or a `BatchGateway`."""

    async def ask(
        self, request: Request, ticket: Ticket
    ) -> tuple[Reply, tuple[FailedAttempt, ...]]:
        """Return the reply, and the attempts that failed before it; see `Gateway.ask`."""
        ...

    @property
    def in_flight(self) -> int:
        """Number of requests that are with the provider now, and not in batches."""
        ...

    @property
    def statistics(self) -> CallStatistics:
        """Counts of the calls so far."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A reply and where it came from.

    Attributes:
        reply: the reply.
        cached: whether no call was made for it.
        age: seconds since a stored reply was made, None for a fresh one.
        attempts: number of calls that were made for it.
        other_run: whether another run made it.
        failures: those of the calls that failed.
    """

    reply: Reply
    cached: bool
    age: float | None
    attempts: int
    other_run: bool = False
    failures: tuple[FailedAttempt, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """The state of a run's calls.

    Attributes:
        in_flight: requests that are with providers now.
        replies: replies of live models so far.
        retries: failed attempts at live models that were repeated so far.
        usage: usage of all replies of live models so far; that of recorded ones is not paid.
        batches: how far the batches are; None in a run without them.
    """

    in_flight: int = 0
    replies: int = 0
    retries: int = 0
    usage: Usage = field(default_factory=Usage)
    batches: BatchGauge | None = None


class Models:
    """Answers requests: by a stored reply, by an equal request in flight, or by a call."""

    def __init__(  # noqa: PLR0913 - the places of replies, all named at the call
        self,
        open_gateway: Callable[[ModelSpec], Way],
        store: ReplyStore,
        *,
        source: ReplySource | None = None,
        keeper: ReplyKeeper | None = None,
        only_stored: bool = False,
        endpoints: Mapping[str, str] = _NO_ENDPOINTS,
        started: float = 0.0,
        writes: Writes | None = None,
        batches: Batches | None = None,
    ) -> None:
        """Answer by the run's store, then by `source`, then by models.

        Args:
            open_gateway: opens the way to a model on first use.
            store: the run's own replies.
            source: replies of other runs. They do not answer for recordings, unless `only_stored`.
            keeper: gets the run's replies too.
            only_stored: whether nothing is sent, so that `source` answers for recordings as well.
            endpoints: address of each kind of provider by the environment, "" for its default.
            started: when the run first began (s since 1970); older replies are another run's.
            writes: notes replies that cannot be stored.
            batches: what the gateways send batches by; it is closed with the files.
        """
        self._writes = Writes() if writes is None else writes
        self._open_gateway, self._store = open_gateway, store
        self._source, self._keeper, self._only_stored = source, keeper, only_stored
        self._endpoints, self._started = endpoints, started
        self._batches = batches
        self._gateways: dict[ModelSpec, Way] = {}
        self._flights: dict[str, Flight[Answer]] = {}
        self._from_store = self._from_source = 0
        self._roles: set[Role] = set()
        self._opened = time.time()
        self._over: str | None = None
        self._told: dict[tuple[ModelSpec, _Loss], str] = {}

    async def ask(self, spec: ModelSpec, request: Request, ticket: Ticket) -> Answer:
        """Return the answer to one request.

        Equal requests share one call. It goes on if some of the askers are cancelled. Once sent it
        goes on without any, and its reply is stored, because it is paid.

        Raises:
            ProviderError, RunStopped: as `Gateway.ask`.
            ModelLost: the failure is the model's, and was raised for another request.
        """
        key = request.key
        self._roles.add(request.role)
        if self._over is not None:
            raise RunStopped(self._over)
        with self._storing():
            stored = self._store.get(key) or self._from_other_run(spec, request)
        if stored is not None:
            return self._answer_stored(spec, stored)
        flight = self._flights.get(key)
        if flight is None or not flight.open:
            flight = self._start(key, spec, request, ticket)
        return await flight.wait(ticket)

    @property
    def lost(self) -> dict[ModelSpec, str]:
        """Models that cannot be asked any more, with the reason."""
        return {spec: reason for (spec, loss), reason in self._told.items() if loss == "model"}

    @property
    def gauge(self) -> Gauge:
        """The state of the calls. May be read from any thread."""
        gateways = dict(self._gateways)
        live = [gateway.statistics for spec, gateway in gateways.items() if not spec.recorded]
        return Gauge(
            in_flight=sum(gateway.in_flight for gateway in gateways.values()),
            replies=sum(one.replies for one in live),
            retries=sum(one.retries.total() for one in live),
            usage=sum((one.usage for one in live), Usage()),
            batches=None if self._batches is None else self._batches.gauge,
        )

    @property
    def effort(self) -> Effort:
        """The calls to live models, and the replies that were stored already."""
        live = {
            spec.label: gateway.statistics
            for spec, gateway in self._gateways.items()
            if not spec.recorded
        }
        return Effort(
            models=live,
            from_store=self._from_store,
            from_cache=self._from_source,
            roles=frozenset(self._roles),
        )

    def end(self, reason: str) -> None:
        """Send nothing more; later requests get RunStopped. Replies in flight are stored."""
        self._over = self._over or reason
        for flight in self._flights.values():
            flight.give_up()

    def cancel(self) -> None:
        """Cancel all calls."""
        for flight in self._flights.values():
            flight.task.cancel()

    async def close(self, *, grace: float = 0.0) -> None:
        """Send nothing more, and close gateways and files.

        Replies that come within `grace` seconds are stored.
        """
        tasks = [flight.task for flight in self._flights.values()]
        self.end(_CLOSING)
        if tasks:
            await asyncio.wait(tasks, timeout=grace)
        self.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        closing = (gateway.close() for gateway in self._gateways.values())
        await asyncio.gather(*closing, return_exceptions=True)
        for file in (self._batches, self._store, self._source, self._keeper):
            try:
                if file is not None:
                    file.close()
            except (OSError, sqlite3.Error) as error:
                self._writes.failed(_STORED, error)

    def _answer_stored(self, spec: ModelSpec, stored: StoredReply) -> Answer:
        if self._keeper is not None:
            with self._storing():
                self._keeper.keep(stored, live=False)
        other_run = stored.created < self._started
        earlier_session = stored.created < self._opened
        self._from_store += earlier_session and not (spec.recorded or other_run)
        self._from_source += other_run and not spec.recorded
        age = max(0.0, time.time() - stored.created)
        return Answer(reply=stored.reply, cached=True, age=age, attempts=0, other_run=other_run)

    def _from_other_run(self, spec: ModelSpec, request: Request) -> StoredReply | None:
        """Return the reply of another run, which from now on is stored in this run too."""
        if self._source is None or (spec.recorded and not self._only_stored):
            return None
        if (found := self._source.find(request)) is not None:
            found = self._dated(found, own=False)
            self._store.put(request.key, found)
        return found

    def _dated(self, stored: StoredReply, *, own: bool) -> StoredReply:
        """Return a reply whose date says whether it is the run's own, though a clock was wrong.

        The run's replies are those made since it began; a clock may have been set back since, and
        the clock of another run may have been ahead.
        """
        if own:
            created = max(stored.created, self._started)
        else:
            created = min(stored.created, math.nextafter(self._started, -math.inf))
        return stored if created == stored.created else replace(stored, created=created)

    def _start(self, key: str, spec: ModelSpec, request: Request, asking: Ticket) -> Flight[Answer]:
        def landed(_: asyncio.Task[Answer]) -> None:
            if self._flights.get(key) is flight:
                del self._flights[key]

        flight = Flight(
            lambda ticket: self._call(spec, request, ticket),
            asking.order,
            online=asking.online,
        )
        flight.task.add_done_callback(landed)
        self._flights[key] = flight
        return flight

    async def _call(self, spec: ModelSpec, request: Request, ticket: Ticket) -> Answer:
        try:
            if spec not in self._gateways:
                self._gateways[spec] = self._open_gateway(spec)
            reply, failures = await self._gateways[spec].ask(request, ticket)
        except LLMEvalError as error:
            loss = "model" if spec not in self._gateways else _loss(error)
            if loss is None:
                raise
            if (reason := self._told.get((spec, loss))) is not None:
                asked = "model" if request.role == "solver" else request.role
                msg = f"{_REASONS[loss].format(asked)}: {reason}"
                raise ModelLost(msg) from None
            self._told[spec, loss] = str(error).partition("\n")[0]
            raise
        self._told.pop((spec, "silent"), None)
        endpoint = self._endpoints.get(request.provider, "")
        stored = StoredReply.of(request, reply, endpoint=endpoint)
        if not spec.recorded:
            stored = self._dated(stored, own=True)
        with self._storing():
            self._store.put(request.key, stored)
            if self._keeper is not None:
                self._keeper.keep(stored, live=not spec.recorded)
        attempts = len(failures) + 1
        return Answer(reply=reply, cached=False, age=None, attempts=attempts, failures=failures)

    @contextmanager
    def _storing(self) -> Iterator[None]:
        """End the run if the block cannot store replies: the next ones would be paid in vain."""
        try:
            with self._writes.to(_STORED):
                yield
        except RunStopped as stopped:
            self.end(str(stopped))
            raise


def _loss(error: LLMEvalError) -> _Loss | None:
    """Return what a failure says of its model; None if it says nothing."""
    if isinstance(error, ModelSilent):
        return "silent"
    if isinstance(error, ProviderError) and error.reach in {"model", "pictures"}:
        return "model" if error.reach == "model" else "pictures"
    return None
