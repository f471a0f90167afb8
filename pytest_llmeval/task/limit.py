"""How many samples of a task are run, and which: the first ones, or random ones."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_llmeval.records import Sample
from pytest_llmeval.task.permutation import stable_hash


@dataclass(frozen=True, slots=True)
class Limit:
    """A number of samples.

    Attributes:
        count: how many samples at most.
        seed: which are taken; None takes the first ones of the dataset.
    """

    count: int
    seed: int | None = None

    def __str__(self) -> str:
        """Return the option's text: ``50``, or ``50,seed=1``."""
        return str(self.count) if self.seed is None else f"{self.count},seed={self.seed}"

    def of(self, samples: Iterable[Sample]) -> Iterator[Sample]:
        """Yield the samples that are taken, in the order of the dataset; all are read.

        A random choice depends on seed and ids alone: on every machine the same ids are taken, a
        larger number takes them too, and rows that are added elsewhere change nothing but by being
        taken.
        """
        if self.seed is None:
            for number, sample in enumerate(samples):
                if number < self.count:
                    yield sample
            return
        ranked = (
            (stable_hash(f"limit {self.seed}\0{sample.id}"), number, sample)
            for number, sample in enumerate(samples)
        )
        # Ids are distinct, so no two samples are compared.
        taken = heapq.nsmallest(self.count, ranked)
        yield from (sample for _, _, sample in sorted(taken, key=lambda one: one[1]))
