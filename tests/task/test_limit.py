"""Which samples of a task a limit takes."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.records import Sample
from pytest_llmeval.task.limit import Limit


def taken(limit: Limit, ids: list[str]) -> list[str]:
    return [one.id for one in limit.of(Sample(id=name, input="?", target="x") for name in ids)]


IDS = st.lists(st.text(max_size=3), unique=True, max_size=15)
SEEDS = st.integers(0, 3)


@given(IDS, st.integers(1, 20))
def test_a_limit_takes_the_first_samples(ids: list[str], count: int) -> None:
    assert taken(Limit(count), ids) == ids[:count]


@given(IDS, st.integers(1, 20), SEEDS, st.randoms())
def test_random_samples_hang_on_their_ids_alone(
    ids: list[str], count: int, seed: int, random: st.DataObject
) -> None:
    found = taken(Limit(count, seed), ids)
    assert len(found) == min(count, len(ids))
    assert found == [name for name in ids if name in found]
    shuffled = list(ids)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # an instance of random.Random
    assert set(taken(Limit(count, seed), shuffled)) == set(found)
    assert set(taken(Limit(count + 1, seed), ids)) >= set(found)


@given(IDS.filter(bool), st.integers(1, 5), SEEDS)
def test_a_new_row_displaces_at_most_one_sample(ids: list[str], count: int, seed: int) -> None:
    before, after = (set(taken(Limit(count, seed), some)) for some in (ids[1:], ids))
    assert len(before - after) <= 1
    assert after - before <= {ids[0]}


def test_every_sample_has_the_same_chance() -> None:
    ids = [str(number) for number in range(10)]
    counts = Counter(name for seed in range(2000) for name in taken(Limit(3, seed), ids))
    assert all(520 < counts[name] < 680 for name in ids)


def test_all_samples_are_read_so_that_all_are_checked() -> None:
    for seed in (None, 1):
        samples = iter([Sample(id=str(n), input="?", target="x") for n in range(9)])
        assert len(list(Limit(2, seed).of(samples))) == 2
        assert next(samples, None) is None
