"""Counts of 0/1 values by sample, and the interval of their mean, while values still come."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from pytest_llmeval.results.statistics import Interval, wilson


class _Shape(NamedTuple):
    """What the interval needs of a cluster: how many values it has, and how many of them are 1."""

    values: int
    ones: int


class CountedClusters:
    """The 0/1 values of each sample of each task, kept as counts.

    Counting a value, and the interval, take the same time however many samples there are: samples
    with equally many values and ones are one term of its sums. Values are counted in one thread;
    the interval may be read in another.
    """

    def __init__(self) -> None:
        """Count nothing yet."""
        self._samples: defaultdict[str, dict[str, _Shape]] = defaultdict(dict)
        self._clusters: Counter[_Shape] = Counter()
        self._known: dict[_Shape, _Shape] = {}

    def count(self, task: str, sample: str, *, one: bool, times: int = 1) -> None:
        """Count a value of a sample; with ``times=-1`` one that was counted is taken back."""
        samples = self._samples[task]
        before = samples.get(sample, _Shape(0, 0))
        after = _Shape(before.values + times, before.ones + times * one)
        # All samples with this shape hold the same object.
        samples[sample] = self._known.setdefault(after, after)
        self._clusters[after] += 1
        self._clusters[before] -= 1

    @property
    def interval(self) -> Interval | None:
        """What `statistics.proportion_interval` returns for these clusters, to the last bit."""
        clusters = [one for one in self._clusters.copy().items() if one[0].values and one[1] > 0]
        values = sum(shape.values * times for shape, times in clusters)
        if not values:
            return None
        mean = sum(shape.ones * times for shape, times in clusters) / values
        samples = sum(times for _, times in clusters)
        terms = [(_spread(shape, mean), times) for shape, times in clusters]
        apart = _exact_sum(
            (square, count * times)
            for shape, times in clusters
            for square, count in (
                ((1.0 - mean) ** 2, shape.ones),
                ((0.0 - mean) ** 2, shape.values - shape.ones),
            )
        )
        trials = float(samples)
        if samples > 1 and (squares := _exact_sum(terms)):
            error = math.sqrt(samples / (samples - 1) * squares) / values
            trials = apart / values / error**2
        return wilson(mean, min(max(trials, samples), values))


def _spread(shape: _Shape, mean: float) -> float:
    """Return the square of the sum of a cluster's distances from the mean."""
    ones, zeros = shape.ones, shape.values - shape.ones
    return _exact_sum([(1.0 - mean, ones), (0.0 - mean, zeros)]) ** 2


def _exact_sum(terms: Iterable[tuple[float, int]]) -> float:
    """Return the sum of the values, each so many times, rounded once as `math.fsum` does."""
    return float(sum(Fraction(value) * times for value, times in terms))
