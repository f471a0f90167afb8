"""The rank of a sample's requests in the queues."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


def _nothing() -> None:
    """Do nothing."""


class Ticket:
    """The rank of one sample's requests. Not thread-safe: belongs to the engine's event loop.

    Attributes:
        order: rank of the sample, lowest first.
        requeue: one callback for each request in a queue, which moves it there.
        in_flight: whether a request is with the provider.
        on_sent: called each time a request is sent.
        wanted: whether a failed attempt is repeated.
    """

    __slots__ = ("_urgent", "in_flight", "on_sent", "order", "requeue", "wanted")

    def __init__(self, order: int, *, urgent: bool = False) -> None:
        """Take the sample's rank, and whether a test waits for it."""
        self.order = order
        self.requeue: set[Callable[[], None]] = set()
        self.in_flight, self.wanted = False, True
        self.on_sent: Callable[[], None] = _nothing
        self._urgent = urgent

    @property
    def urgent(self) -> bool:
        """Whether a test waits for this sample now; its requests then go first."""
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
        """Mark a request as with the provider."""
        self.in_flight = True
        self.on_sent()
        try:
            yield
        finally:
            self.in_flight = False
