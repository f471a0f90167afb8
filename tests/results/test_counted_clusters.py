"""Counted 0/1 values give the interval of the values themselves, at a cost that does not grow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.results import counted_clusters
from pytest_llmeval.results.counted_clusters import CountedClusters
from pytest_llmeval.results.statistics import proportion_interval

VALUES = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 40), st.booleans()), max_size=120)


@given(VALUES, st.data())
def test_the_interval_is_that_of_the_values_to_the_last_bit(
    values: list[tuple[str, int, bool]], data: st.DataObject
) -> None:
    counted, left = CountedClusters(), list(values)
    for task, sample, one in values:
        counted.count(task, str(sample), one=one)
    gone = st.lists(st.sampled_from(values), unique=True) if values else st.just([])
    for value in data.draw(gone):
        left.remove(value)
        counted.count(value[0], str(value[1]), one=value[2], times=-1)
    clusters: defaultdict[tuple[str, int], list[float]] = defaultdict(list)
    for task, sample, one in left:
        clusters[task, sample].append(float(one))
    assert counted.interval == proportion_interval(tuple(clusters.values()))


def test_the_number_of_terms_of_its_sums_does_not_grow_with_the_samples(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    summed: list[int] = []
    exact = counted_clusters._exact_sum

    def counting(terms: Iterable[tuple[float, int]]) -> float:
        made = list(terms)
        summed.append(len(made))
        return exact(made)

    monkeypatch.setattr(counted_clusters, "_exact_sum", counting)
    counted, terms = CountedClusters(), []
    for sample in range(20_000):
        for epoch in range(2):
            counted.count("sums", str(sample), one=(sample * 7 + epoch) % 3 == 0)
        if sample in {200, 19_999}:
            summed.clear()
            assert counted.interval is not None
            terms.append(sum(summed))
    assert terms[0] == terms[1]
