"""Engines that answered tools in place of the one that a benchmark is made for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pytest_llmeval.records import Record, Row


class StandIn(Record, frozen=True, kw_only=True):
    """The number of rows in which `engine` answered in place of `stands_in_for`."""

    engine: str
    stands_in_for: str
    rows: int

    @property
    def engines(self) -> str:
        """Both engines, such as ``standin, not Original``."""
        return f"{self.engine}, not {self.stands_in_for}"


def stand_ins(rows: Iterable[Row]) -> tuple[StandIn, ...]:
    """Return the stand-ins of rows, in alphabetical order."""
    counts = Counter((row.engine, row.stands_in_for) for row in rows if row.stands_in_for)
    return tuple(
        StandIn(engine=engine, stands_in_for=other, rows=number)
        for (engine, other), number in sorted(counts.items())
    )
