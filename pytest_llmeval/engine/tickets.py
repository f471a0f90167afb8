"""A sample's place in the queues, and what becomes of its request there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


def _nothing() -> None:
    """Do nothing."""


class Ticket:
    """A sample's place in every queue. Not thread-safe: belongs to the engine's loop.

    `order` ranks the samples, lowest first. Setting `urgent` (a test already waits) moves what
    waits to the front: `requeue` holds how, one callback for each request in a queue. `in_flight`
    tells whether a request is with the provider, and `on_sent` is called each time one goes there.
    While `wanted` is not set, a failed attempt is not repeated.
    """

    __slots__ = ("_urgent", "in_flight", "on_sent", "order", "requeue", "wanted")

    def __init__(self, order: int, *, urgent: bool = False) -> None:
        """Take the sample's rank."""
        self.order = order
        self.requeue: set[Callable[[], None]] = set()
        self.in_flight, self.wanted = False, True
        self.on_sent: Callable[[], None] = _nothing
        self._urgent = urgent

    @property
    def urgent(self) -> bool:
        """Whether a test waits for this sample now."""
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
        """Note that a request is with the provider."""
        self.in_flight = True
        self.on_sent()
        try:
            yield
        finally:
            self.in_flight = False
