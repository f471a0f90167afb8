"""Limits of solvers that ask several times for one sample: turns, calls of tools, time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from math import isfinite
from typing import TypeVar

_T = TypeVar("_T")


class OutOfTimeError(Exception):
    """The own time of a sample is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a solver may do for one sample.

    Attributes:
        turns: most replies of the model under test.
        max_calls: most calls of tools; None for any number.
        max_seconds: most seconds of the sample's own time (see `OwnTime`); None for any number.
    """

    turns: int
    max_calls: int | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for limits of wrong values."""
        _check_count("turns", self.turns, "how many replies the model has")
        if self.max_calls is not None:
            _check_count("max_calls", self.max_calls, "how many calls of tools a sample has")
        seconds = self.max_seconds
        if seconds is not None and (
            type(seconds) not in {int, float} or not isfinite(seconds) or seconds <= 0
        ):
            msg = f"max_seconds is {seconds!r}; it is the time of one sample, a number above 0"
            raise ValueError(msg)

    def last(self, turn: int, *, calls: int = 0) -> bool:
        """Whether a turn is the last one, after so many calls of tools.

        Args:
            turn: its number, from 1.
            calls: calls of the turns before it.
        """
        return turn >= self.turns or (self.max_calls is not None and calls >= self.max_calls)


class OwnTime:
    """Adds up the time that one sample takes by itself.

    That is the latency of its replies, each from the sending of the request to its last byte, and
    the time of its tools. Waiting for a place among the requests in flight, for rate limits and
    before retries is not in it, and a stored reply counts what it took when it was made. So a
    sample ends at the same place whether the run is busy, quiet or a replay.

    Attributes:
        most: the limit in seconds; None means no limit.
        seconds: the time so far.
    """

    def __init__(self, most: float | None) -> None:
        """Start at 0, with the limit `most`."""
        self.most, self.seconds = most, 0.0

    @property
    def over(self) -> bool:
        """Whether the limit is reached."""
        return self.most is not None and self.seconds >= self.most

    def add(self, seconds: float) -> None:
        """Count the latency of a reply."""
        self.seconds += seconds

    async def run(self, work: Awaitable[_T]) -> _T:
        """Return the result of work on the sample, such as a tool's, and count its time.

        Raises:
            OutOfTimeError: the time ended before the work, which is cancelled.
        """
        left = None if self.most is None else self.most - self.seconds
        clock = asyncio.get_running_loop().time
        started, limit = clock(), asyncio.timeout(left)
        try:
            async with limit:
                return await work
        # The work may turn its cancellation into an error of its own.
        except Exception as error:
            if limit.expired():
                raise OutOfTimeError from error
            raise
        finally:
            # A timer may come a clock's tick early.
            taken = clock() - started
            self.seconds += taken if left is None or not limit.expired() else max(taken, left)


def _check_count(name: str, value: object, meaning: str) -> None:
    if type(value) is not int or value < 1:
        msg = f"{name} is {value!r}; it is {meaning}, a whole number from 1"
        raise ValueError(msg)
