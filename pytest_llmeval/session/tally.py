"""The outcomes so far: what a running accuracy is made of."""

from __future__ import annotations

from collections import Counter
from typing import Final

from pytest_llmeval.records import Outcome, Row
from pytest_llmeval.results.counted_clusters import CountedClusters
from pytest_llmeval.results.statistics import Interval

_SCORED: Final[tuple[Outcome, ...]] = ("correct", "incorrect")


class Tally:
    """Counts of a run's reported rows, the last one of each key.

    Rows are counted in one thread; figures may be read in another one.

    Attributes:
        done: number of rows.
        live: number of rows for which a model was asked in this session, and nothing was stored.
    """

    def __init__(self) -> None:
        """Count nothing yet."""
        self.done = self.live = 0
        self._outcomes: Counter[Outcome] = Counter()
        self._clusters = CountedClusters()

    def count(self, row: Row, before: Row | None = None) -> None:
        """Count a row in place of an earlier one with its key."""
        self._outcomes[row.outcome] += 1
        self._cluster(row)
        if before is not None:
            self._outcomes[before.outcome] -= 1
            self._cluster(before, times=-1)
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

        It is read twice a second, and takes the same time however many rows there are.
        """
        return self._clusters.interval

    def _cluster(self, row: Row, times: int = 1) -> None:
        if row.outcome in _SCORED:
            correct = row.outcome == "correct"
            self._clusters.count(row.task, row.sample, one=correct, times=times)
