"""A rate limit: units per minute, spread evenly."""

from __future__ import annotations


class Bucket:
    """At most `per_minute` units in any 60 seconds; bursts hold one second's worth."""

    def __init__(self, per_minute: float) -> None:
        """Take the units (requests or tokens) per minute."""
        self._capacity = max(1.0, per_minute / 60)
        # A full bucket and a minute's refill together are what the minute may hold.
        self._rate = (per_minute - self._capacity + 1) / 60
        self._level, self._time = self._capacity, 0.0

    def delay(self, now: float, units: float) -> float:
        """Return the seconds until `units` may be taken.

        More than the bucket holds may be taken when it is full.
        """
        self._level = min(self._capacity, self._level + (now - self._time) * self._rate)
        self._time = now
        return max(0.0, min(units, self._capacity) - self._level) / self._rate

    def take(self, units: float) -> None:
        """Take `units`, or give them back when negative; the level may fall below zero."""
        self._level = min(self._capacity, self._level - units)
