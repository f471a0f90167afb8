"""Samples whose texts are too long for memory: the same samples, read from a file."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Sample
from pytest_llmeval.task import spooled_samples
from pytest_llmeval.task.spooled_samples import SamplesById, SpooledSamples, collected

ANY = st.characters(codec=None)
"""Halves of surrogate pairs too, which datasets in JSON may hold."""

SAMPLES = st.lists(
    st.builds(
        Sample,
        id=st.text(ANY, max_size=5),
        input=st.text(ANY, max_size=50),
        target=st.text(ANY, max_size=5),
        tags=st.lists(st.text(max_size=3), max_size=2).map(tuple),
        metadata=st.dictionaries(st.text(max_size=3), st.integers() | st.none(), max_size=2),
    ),
    max_size=20,
    unique_by=lambda sample: sample.id,
)


@given(SAMPLES, st.integers(0, 200))
def test_samples_are_the_same_wherever_they_lie(samples: list[Sample], in_memory: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spooled_samples, "IN_MEMORY", in_memory)
        found = collected(samples)
    assert list(found) == samples
    assert len(found) == len(samples)
    assert isinstance(found, SpooledSamples) is (sum(len(one.input) for one in samples) > in_memory)
    assert dict(SamplesById(found)) == {sample.id: sample for sample in samples}


def test_several_threads_read_at_once() -> None:
    samples = [Sample(id=str(n), input=f"{n} " * 2_000, target="") for n in range(50)]
    spooled = SpooledSamples(samples)
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(spooled.__getitem__, [*range(50)] * 20)) == samples * 20


def test_a_full_disk_is_told_before_anything_is_paid() -> None:
    samples = [Sample(id=str(n), input="x" * 100_000, target="") for n in range(5)]
    with largest_file(200_000), pytest.raises(UsageError, match=r"TMPDIR may change: .*File too"):
        SpooledSamples(samples)


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
