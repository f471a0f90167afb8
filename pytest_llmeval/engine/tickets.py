"""The priority of a sample's requests in the queues."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


def _nothing() -> None:
    """Do nothing; the default of `Ticket.on_sent`."""


def _no_clock(on: bool) -> None:  # noqa: FBT001 - a callback's only argument
    """Do nothing; the default of `Ticket.on_hold`."""


class Ticket:
    """The priority of one sample's requests. Not thread-safe: for the engine's event loop only.

    Attributes:
        order: position of the sample in the plan; lower ones go first.
        requeue: for each queued request, a function that moves it after a change of `urgent`.
        in_flight: whether a request has been sent and its reply has not arrived.
        on_sent: called each time a request is sent.
        on_hold: called with True when a request begins to wait for a batch, and with False when
            that wait ends.
        online: whether its requests cannot wait for a batch.
        wanted: whether failed attempts are retried.
    """

    __slots__ = (
        "_urgent",
        "in_flight",
        "on_hold",
        "on_sent",
        "online",
        "order",
        "requeue",
        "wanted",
    )

    def __init__(self, order: int, *, urgent: bool = False, online: bool = False) -> None:
        """Set the sample's position, whether a test waits for it, and whether batches are out."""
        self.order, self.online = order, online
        self.requeue: set[Callable[[], None]] = set()
        self.in_flight, self.wanted = False, True
        self.on_sent: Callable[[], None] = _nothing
        self.on_hold: Callable[[bool], None] = _no_clock
        self._urgent = urgent

    @property
    def urgent(self) -> bool:
        """Whether a test waits for this sample; its requests then precede all others."""
        return self._urgent

    @urgent.setter
    def urgent(self, value: bool) -> None:
        if value == self._urgent:
            return
        self._urgent = value
        for enqueue in tuple(self.requeue):
            enqueue()

    @contextmanager
    def sent(self) -> Iterator[None]:
        """Mark a request as in flight for the duration of the block."""
        self.in_flight = True
        self.on_sent()
        try:
            yield
        finally:
            self.in_flight = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Mark a request as waiting for a batch for the duration of the block."""
        self.on_hold(True)
        try:
            yield
        finally:
            self.on_hold(False)
