"""The order in which samples are started ahead of the tests that wait for them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class _Cursor:
    """A worker's progress in the plan.

    Attributes:
        origin: position of the last test that asked.
        reach: number of positions from `origin` on that are taken.
    """

    origin: int
    reach: int


class LookAhead:
    """Selects positions of the plan, each once, by their distance ahead of the workers.

    Each worker runs tests in the order of the plan, from its own start that xdist decides. So the
    position with the smallest distance ahead of any worker is likely to be needed first.
    """

    def __init__(self, count: int) -> None:
        """Select among the positions 0..count-1."""
        self._taken = bytearray(count)
        self._cursors: dict[str, _Cursor] = {}

    def asked(self, worker: str, position: int) -> None:
        """Mark a position as taken, and as the worker's current one."""
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
        """Take and return the position to start next; None when all are taken or no test asked."""
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
