"""Calls under way, each shared by the samples that ask an equal request meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from pytest_llmeval.engine.tickets import Ticket

T = TypeVar("T")


class Flight(Generic[T]):
    """One call.

    It goes on while a sample waits for it. Without any, it goes on as long as its request is with
    the provider: a request that was sent is paid, so its reply is to be stored.
    """

    def __init__(
        self,
        call: Callable[[Ticket], Coroutine[Any, Any, T]],
        order: int,
        *,
        online: bool = False,
    ) -> None:
        """Start `call` with a ticket of the rank `order`; for `online` see `Ticket`."""
        self._ticket = Ticket(order, online=online)
        self._ticket.on_sent, self._ticket.on_hold = self._sent, self._hold
        # A list: one sample may ask the same twice at once.
        self._waiting: list[Ticket] = []
        self._ever_sent = self._held = False
        self.task = asyncio.create_task(call(self._ticket))
        # Retrieved, or the loop reports a failure that no sample waits for.
        self.task.add_done_callback(lambda task: task.cancelled() or task.exception())

    @property
    def open(self) -> bool:
        """Whether it can still be waited for."""
        return not (self.task.done() or self.task.cancelling())

    async def wait(self, ticket: Ticket) -> T:
        """Return what the call returns, for the sample of `ticket`."""

        def hurry() -> None:
            self._ticket.urgent = True

        if ticket.urgent:
            hurry()
        ticket.requeue.add(hurry)
        self._waiting.append(ticket)
        self._ticket.wanted = True
        if self._ever_sent:
            ticket.on_sent()
        if self._held:
            ticket.on_hold(True)
        try:
            return await asyncio.shield(self.task)
        finally:
            if self._held:
                ticket.on_hold(False)
            ticket.requeue.discard(hurry)
            self._waiting.remove(ticket)
            if not self._waiting:
                self.give_up()

    def give_up(self) -> None:
        """Send nothing more for it."""
        self._ticket.wanted = False
        if not self._ticket.in_flight:
            self.task.cancel()

    def _sent(self) -> None:
        self._ever_sent = True
        for ticket in tuple(self._waiting):
            ticket.on_sent()

    def _hold(self, on: bool) -> None:  # noqa: FBT001 - a callback's only argument
        self._held = on
        for ticket in tuple(self._waiting):
            ticket.on_hold(on)
