"""Which prefixes of requests a provider is asked to cache.

Reading a prefix from the cache costs a tenth of sending it, or less; writing it costs a quarter
more. So a prefix is written when it comes for the second time: one that never repeats costs nothing
extra. It is written by one request, while the others that are in flight go unmarked: hundreds of
concurrent requests would otherwise all pay for writing it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

LIFETIME: Final = 240.0
"""Seconds after which a prefix counts as forgotten: the cache keeps it for 300 from its last use,
and a request takes its time."""

MOST: Final = 10_000
"""Prefixes that are remembered; the oldest are forgotten first."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Breakpoint(Generic[T]):
    """A place in a request up to which it may be cached.

    Attributes:
        place: where the mark goes.
        prefix: digest of all that stands before; None where the mark always pays, because the
            conversation goes on from here.
    """

    place: T
    prefix: str | None


@dataclass(slots=True)
class _State:
    writing: bool = False
    until: float = 0.0


class PromptCache:
    """Remembers the prefixes of one model's requests. Belongs to one event loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with no prefix known; `clock` counts seconds."""
        self._clock = clock
        self._states: dict[str, _State] = {}

    @contextmanager
    def marking(self, points: Sequence[Breakpoint[T]]) -> Iterator[tuple[T, ...]]:
        """Give the places to mark in a request that is sent in the block.

        Only a block that ends without an exception has written or read its prefixes.
        """
        marked, writes, reads = [], [], []
        for point in points:
            if point.prefix is None:
                marked.append(point.place)
            elif (state := self._known(point.prefix)) is not None:
                if state.until > self._clock():
                    reads.append(state)
                elif not state.writing:
                    state.writing = True
                    writes.append(state)
                else:
                    continue
                marked.append(point.place)
        try:
            yield tuple(marked)
            for state in (*reads, *writes):
                state.until = self._clock() + LIFETIME
        finally:
            for state in writes:
                state.writing = False

    def _known(self, prefix: str) -> _State | None:
        """Return what is known of a prefix; None, and remember it, when it comes first."""
        state = self._states.get(prefix)
        if state is None:
            if len(self._states) >= MOST:
                del self._states[next(iter(self._states))]
            self._states[prefix] = _State()
        return state
