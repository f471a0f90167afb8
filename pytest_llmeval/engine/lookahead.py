"""The choice of the sample to start next, ahead of the tests that will ask for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class _Cursor:
    """A worker's position (`origin`), and how many positions from there on are taken (`reach`)."""

    origin: int
    reach: int


class LookAhead:
    """Hands out positions of the plan, each once, by their distance ahead of the workers.

    Each worker walks the plan in order from where xdist put it, so the position with the smallest
    distance ahead of any worker is reached first.
    """

    def __init__(self, count: int) -> None:
        """Hand out positions 0..count-1."""
        self._taken = bytearray(count)
        self._cursors: dict[str, _Cursor] = {}

    def asked(self, worker: str, position: int) -> None:
        """Note that a worker asks for a position; it counts as taken."""
        self._taken[position] = 1
        cursor = self._cursors.get(worker)
        if cursor is not None and 0 <= position - cursor.origin <= cursor.reach:
            cursor.reach -= position - cursor.origin
            cursor.origin = position
        else:
            self._cursors[worker] = _Cursor(position, 0)

    def take(self, position: int) -> None:
        """Mark a position as taken."""
        self._taken[position] = 1

    def next(self) -> int | None:
        """Take the position to start next; None when all are taken, or no worker asked yet."""
        count = len(self._taken)
        nearest: _Cursor | None = None
        for cursor in self._cursors.values():
            while cursor.reach < count and self._taken[(cursor.origin + cursor.reach) % count]:
                cursor.reach += 1
            if cursor.reach < count and (nearest is None or cursor.reach < nearest.reach):
                nearest = cursor
        if nearest is None:
            return None
        position = (nearest.origin + nearest.reach) % count
        self._taken[position] = 1
        return position
