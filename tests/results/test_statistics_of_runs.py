from __future__ import annotations

import math
import random
from itertools import product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.results import statistics as ours

SINGLES = [[12.5], [100.0], [0.0], [60.0], [41.2], [100.0], [33.3], [7.0], [100.0], [58.8], [0.0], [22.0]]


def test_wilson_agrees_with_a_calculation_by_hand() -> None:
    # 1 of 4, z = 1.96: shrink = 1 + 3.8416/4 = 1.9604; centre = (0.25 + 3.8416/8) / 1.9604 = 0.37247
    # half = 1.96 / 1.9604 * sqrt(0.1875/4 + 3.8416/64) = 0.99980 * 0.32693 = 0.32687
    interval = ours.wilson(0.25, 4)
    assert interval.low == pytest.approx(0.0456, abs=1e-4)
    assert interval.high == pytest.approx(0.6994, abs=1e-4)


@pytest.mark.parametrize(("correct", "n"), [(0, 5), (5, 5), (11, 18), (1, 1000), (617, 2000)])
def test_wilson_agrees_with_scipy(correct: int, n: int) -> None:
    known = scipy.stats.binomtest(correct, n).proportion_ci(method="wilson")
    interval = ours.wilson(correct / n, n)
    assert (interval.low, interval.high) == pytest.approx((known.low, known.high), abs=1e-12)


def test_the_clustered_error_of_single_epochs_is_the_usual_one() -> None:
    values = [cluster[0] for cluster in SINGLES]
    assert ours.clustered_error(SINGLES) == pytest.approx(np.std(values, ddof=1) / math.sqrt(len(values)))


def test_the_clustered_error_agrees_with_a_calculation_by_hand() -> None:
    # Samples (1, 1), (0, 0), (1, 0): mean 0.5; sums of deviations 1, -1, 0; squares add to 2.
    # G = 3: sqrt(3/2 * 2) / 6 = sqrt(3) / 6. Six independent values would give sqrt(0.3/6) = 0.22.
    assert ours.clustered_error([[1, 1], [0, 0], [1, 0]]) == pytest.approx(math.sqrt(3) / 6)


def test_repeating_every_sample_does_not_narrow_an_interval() -> None:
    once = [[1.0], [0.0], [1.0], [1.0], [0.0], [0.0], [1.0], [0.0]]
    often = [cluster * 10 for cluster in once]
    assert ours.clustered_error(often) == pytest.approx(ours.clustered_error(once))
    assert ours.proportion_interval(often) == ours.proportion_interval(once)
    assert ours.bootstrap_interval([[v * 3 + 1] for [v] in once]) == ours.bootstrap_interval(
        [[v * 3 + 1] * 10 for [v] in once]
    )


def test_independent_epochs_narrow_a_proportion_up_to_the_number_of_values() -> None:
    generator = random.Random(7)
    clusters = [[float(generator.random() < 0.5) for _ in range(4)] for _ in range(200)]
    found = ours.proportion_interval(clusters)
    all_values = ours.wilson(sum(map(sum, clusters)) / 800, 800)
    assert found is not None
    assert found.high - found.low == pytest.approx(all_values.high - all_values.low, rel=0.15)
    assert found.high - found.low >= all_values.high - all_values.low


def test_the_bootstrap_agrees_with_scipys_bca() -> None:
    values = np.array([cluster[0] for cluster in SINGLES])
    known = scipy.stats.bootstrap(
        (values,), np.mean, method="BCa", n_resamples=5000, rng=np.random.default_rng(3)
    ).confidence_interval
    found = ours.bootstrap_interval(SINGLES)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=1.5)


def test_the_bootstrap_gives_the_same_interval_every_time_and_another_for_another_seed() -> None:
    assert ours.bootstrap_interval(SINGLES) == ours.bootstrap_interval(SINGLES)
    assert ours.bootstrap_interval(SINGLES) != ours.bootstrap_interval(SINGLES, seed=1)


def test_the_bootstrap_covers_the_true_mean_about_as_often_as_it_says() -> None:
    # 200 draws of 40 from a skewed mixture (mean 0.3 * 100 + 0.7 * 25 = 47.5); 95 % +- 3 standard errors of 1.5.
    generator = random.Random(11)
    hits = 0
    for _ in range(200):
        sample = [[100.0 if generator.random() < 0.3 else generator.uniform(0, 50)] for _ in range(40)]
        found = ours.bootstrap_interval(sample, resamples=500)
        assert found is not None
        hits += found.low <= 47.5 <= found.high
    assert 0.90 <= hits / 200 <= 1.0


@pytest.mark.parametrize("clusters", [[], [[50.0]], [[50.0], [50.0], [50.0]]], ids=["none", "one", "alike"])
def test_values_without_spread_have_no_bootstrap_interval(clusters: list[list[float]]) -> None:
    assert ours.bootstrap_interval(clusters) is None


def test_batches_do_not_change_the_resampling(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ours.bootstrap_interval(SINGLES)
    monkeypatch.setattr(ours, "_DRAWS_AT_ONCE", 100)
    assert ours.bootstrap_interval(SINGLES) == whole


def test_nothing_has_no_mean() -> None:
    assert ours.mean([]) is None
    assert ours.clustered_error([]) is None
    assert ours.proportion_interval([]) is None


@pytest.mark.parametrize(("n", "correct", "k"), [(5, 2, 1), (5, 2, 3), (4, 0, 2), (4, 4, 2), (6, 1, 6)])
def test_pass_rates_are_the_share_of_all_choices_of_k_epochs(n: int, correct: int, k: int) -> None:
    outcomes = [True] * correct + [False] * (n - correct)
    choices = [pick for pick in product(range(n), repeat=k) if len(set(pick)) == k]
    once = sum(any(outcomes[i] for i in pick) for pick in choices) / len(choices)
    every = sum(all(outcomes[i] for i in pick) for pick in choices) / len(choices)
    assert ours.pass_at_k(n, correct, k) == pytest.approx(once)
    assert ours.pass_all_k(n, correct, k) == pytest.approx(every)


@pytest.mark.parametrize(("only_a", "only_b"), [(0, 0), (1, 0), (3, 9), (9, 3), (7, 7), (400, 460)])
def test_mcnemar_agrees_with_scipys_binomial_test(only_a: int, only_b: int) -> None:
    known = scipy.stats.binomtest(only_a, only_a + only_b).pvalue if only_a + only_b else 1.0
    assert ours.mcnemar(only_a, only_b) == pytest.approx(known)


def test_mcnemar_agrees_with_a_calculation_by_hand() -> None:
    # 1 against 5: 2 * (C(6,0) + C(6,1)) / 2^6 = 14/64.
    assert ours.mcnemar(1, 5) == 14 / 64


def test_a_clear_difference_of_pairs_is_found_and_signed_b_minus_a() -> None:
    pairs = [([10.0 + i], [20.0 + i + i % 3]) for i in range(30)]
    found = ours.paired_difference(pairs)
    assert found.value == pytest.approx(11.0)  # 10 and the mean of 0, 1, 2
    assert found.interval is not None
    assert found.interval.low > 10
    assert found.p_value is not None
    assert found.p_value < 0.001


def test_equal_pairs_do_not_differ() -> None:
    found = ours.paired_difference([([v], [v]) for v in (1.0, 2.0, 3.0)])
    assert (found.value, found.interval, found.p_value) == (0.0, None, 1.0)


def test_pairs_that_differ_by_noise_alone_are_rarely_called_different() -> None:
    generator = random.Random(5)
    p_values = [
        ours.paired_difference([([generator.gauss(0, 1)], [generator.gauss(0, 1)]) for _ in range(40)]).p_value
        for _ in range(60)
    ]
    assert sum(p is not None and p < 0.05 for p in p_values) <= 9  # expected 3, +- 1.7


def test_holm_agrees_with_a_calculation_by_hand() -> None:
    # Sorted 0.01 0.02 0.03 0.04 times 4 3 2 1: 0.04 0.06 0.06 0.04, and never falling: 0.04 0.06 0.06 0.06.
    found = ours.holm({"d": 0.04, "a": 0.01, "c": 0.03, "b": 0.02})
    assert list(found) == ["d", "a", "c", "b"]
    assert found == pytest.approx({"a": 0.04, "b": 0.06, "c": 0.06, "d": 0.06})


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=6))
def test_holm_never_lowers_a_p_value_nor_changes_their_order(p_values: dict[str, float]) -> None:
    found = ours.holm(p_values)
    assert all(p_values[name] <= found[name] <= 1 for name in p_values)
    ranked = sorted(p_values, key=lambda name: p_values[name])
    assert [found[name] for name in ranked] == sorted(found.values())
