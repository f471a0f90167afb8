"""The time that a run still takes, from the rate at which its tests have ended lately."""

from __future__ import annotations

from collections import deque
from typing import Final

_SPAN: Final = 60.0
"""Seconds over which a rate goes at least."""

_STORED_SPAN: Final = 10.0
"""The same for tests whose replies were stored: a burst of them says little about the next ones."""

_FEWEST: Final = 5
"""Tests that must have ended before anything is said."""

_WAVES: Final = 2
"""A rate goes over so many times the requests in flight: equal requests end in waves."""


class MovingRate:
    """How fast a count has grown lately."""

    def __init__(self, span: float) -> None:
        """Go over the last `span` seconds at least, once there are as many."""
        self._span = span
        self._points: deque[tuple[float, int]] = deque()

    def begin(self, now: float) -> None:
        """Begin again with 0 at a time (s)."""
        self._points = deque([(now, 0)])

    def note(self, now: float, count: int) -> None:
        """Note the count at a time (s); neither may decrease."""
        if not self._points or self._points[-1][1] != count:
            self._points.append((now, count))

    def rate(self, now: float, least: int) -> float | None:
        """Return the growth per second, over `least` counts or more; None if it never grew."""
        if len(self._points) < 2:  # noqa: PLR2004 - growth is between two
            return None
        count = self._points[-1][1]

        def is_enough(point: tuple[float, int]) -> bool:
            return now - point[0] >= self._span and count - point[1] >= least

        while is_enough(self._points[1]):
            self._points.popleft()
        start, before = self._points[0]
        return (count - before) / (now - start) if now > start else None


class TimeLeft:
    """Estimates the seconds until all tests have ended.

    Tests for which a model was asked tell how fast the next ones will be. Those whose replies were
    stored end in bursts, and count only as long as no model was asked.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self._live, self._all = MovingRate(_SPAN), MovingRate(_STORED_SPAN)
        self._done = self._stored = self._replies = self._counted = 0

    def note(self, now: float, *, done: int, live: int, replies: int) -> None:
        """Note how far the run is at a time (s).

        Args:
            now: the time.
            done: tests that have ended.
            live: those of them for which nothing was stored.
            replies: replies of live models. A test may have been asked about in part, as when a
                judge grades stored replies.
        """
        if not live and done != self._done and replies == self._replies:
            self._stored = done
            self._live.begin(now)
        self._done, self._replies = done, replies
        counted = live or done - self._stored
        if counted < self._counted:
            self._live.begin(now)
        self._counted = counted
        self._live.note(now, counted)
        self._all.note(now, done)

    def seconds(self, now: float, remaining: int, in_flight: int) -> float | None:
        """Return the seconds that `remaining` tests take; None if too few have ended to tell.

        At the start as many must have ended as are in flight: before the first wave of replies has
        come, those that did come tell how long a reply takes, and not how many come at a time.
        """
        if self._counted >= max(_FEWEST, min(in_flight, remaining)):
            rate = self._live.rate(now, max(_FEWEST, _WAVES * in_flight))
        elif self._replies or in_flight:
            return None
        else:
            rate = self._all.rate(now, _FEWEST)
        return remaining / rate if rate else None
