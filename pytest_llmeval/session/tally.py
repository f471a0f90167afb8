"""The outcomes so far: what a running accuracy is made of."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Final

from pytest_llmeval.records import Outcome, Row
from pytest_llmeval.results.statistics import Interval, proportion_interval

_SCORED: Final[tuple[Outcome, ...]] = ("correct", "incorrect")
_GROWTH: Final = 1.01
"""By how much the scored rows must have grown before the interval is computed again."""


class Tally:
    """Counts of a run's reported rows, the last one of each key.

    Rows are counted in one thread; figures may be read in another one.

    Attributes:
        done: number of rows.
        live: number of rows for which a model was asked in this session, and nothing was stored.
    """

    def __init__(self, rows: Callable[[], Iterable[Row]]) -> None:
        """Count nothing yet; `rows` returns all rows that were counted."""
        self._rows = rows
        self.done = self.live = 0
        self._outcomes: Counter[Outcome] = Counter()
        self._interval: Interval | None = None
        self._interval_of = 0

    def count(self, row: Row, before: Row | None = None) -> None:
        """Count a row in place of an earlier one with its key."""
        self._outcomes[row.outcome] += 1
        if before is not None:
            self._outcomes[before.outcome] -= 1
            return
        self.done += 1
        self.live += not (row.cached or row.recorded or row.outcome == "not run")

    @property
    def scored(self) -> int:
        """Number of rows that are correct or incorrect."""
        return sum(self._outcomes[outcome] for outcome in _SCORED)

    @property
    def errors(self) -> int:
        """Number of errors."""
        return self._outcomes["error"]

    @property
    def accuracy(self) -> float | None:
        """Share of the scored rows that are correct (0..1); None without any."""
        return self._outcomes["correct"] / self.scored if self.scored else None

    @property
    def interval(self) -> Interval | None:
        """The interval of the accuracy; rows of one sample, of any model and epoch, are a cluster.

        From 100 rows on it may be that of one per cent fewer rows: it is read twice a second, and
        goes through all of them.
        """
        scored = self.scored
        if not self._interval_of <= scored < self._interval_of * _GROWTH:
            self._interval, self._interval_of = self._computed(), scored
        return self._interval

    def _computed(self) -> Interval | None:
        clusters: dict[tuple[str, str], list[float]] = defaultdict(list)
        for row in tuple(self._rows()):
            if row.outcome in _SCORED:
                clusters[row.task, row.sample].append(float(row.outcome == "correct"))
        return proportion_interval(tuple(clusters.values()))
