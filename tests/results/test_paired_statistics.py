from __future__ import annotations

import random

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import proportion_confint

from pytest_llmeval.results import paired as ours


@pytest.mark.parametrize(("only_a", "only_b"), [(0, 0), (1, 0), (3, 9), (9, 3), (7, 7), (400, 460)])
def test_mcnemar_agrees_with_scipys_binomial_test(only_a: int, only_b: int) -> None:
    known = scipy.stats.binomtest(only_a, only_a + only_b).pvalue if only_a + only_b else 1.0
    assert ours.mcnemar(only_a, only_b) == pytest.approx(known)


@pytest.mark.parametrize(("only_a", "only_b"), [(1, 0), (3, 9), (7, 7), (40, 61)])
def test_mcnemar_agrees_with_statsmodels(only_a: int, only_b: int) -> None:
    known = mcnemar_of_statsmodels([[10, only_a], [only_b, 20]], exact=True).pvalue
    assert ours.mcnemar(only_a, only_b) == pytest.approx(min(1.0, known))


def test_mcnemar_agrees_with_a_calculation_by_hand() -> None:
    # 1 against 5: 2 * (C(6,0) + C(6,1)) / 2^6 = 14/64.
    assert ours.mcnemar(1, 5) == 14 / 64


def test_a_clear_difference_of_pairs_is_found_and_signed_b_minus_a() -> None:
    pairs = [([10.0 + i], [20.0 + i + i % 3]) for i in range(30)]
    found = ours.paired_difference(pairs)
    assert found.value == pytest.approx(11.0)  # 10 and the mean of 0, 1, 2
    assert found.interval.low > 10
    assert found.p_value is not None
    assert found.p_value < 0.001


def test_equal_pairs_do_not_differ() -> None:
    found = ours.paired_difference([([v], [v]) for v in (1.0, 2.0, 3.0)])
    assert (found.value, found.p_value, found.effect, found.smallest) == (0.0, 1.0, None, None)


@pytest.mark.parametrize("n", [1, 5, 43, 1000])
def test_pairs_that_all_agree_leave_room_for_the_rare_one_that_does_not(n: int) -> None:
    found = ours.paired_difference([([60.0], [60.0])] * n, scale=100.0)
    _, unseen = proportion_confint(0, n, alpha=0.05, method="beta")
    assert (found.interval.low, found.interval.high) == pytest.approx((-100 * unseen, 100 * unseen))


def test_a_difference_never_leaves_its_scale() -> None:
    found = ours.paired_difference([([0.0], [1.0])] * 3)
    assert found.interval.high == 1.0
    assert found.interval.low == pytest.approx(0.025 ** (1 / 3))  # 1 - (1 - 0.025^(1/3))


PAIRS = [
    ([a], [b])
    for a, b in zip(
        (20, 35, 60, 100, 0, 41, 100, 7), (30, 35, 100, 100, 12, 40, 60, 25), strict=True
    )
]


def test_the_interval_of_paired_scores_agrees_with_scipys_bca() -> None:
    differences = np.array([b[0] - a[0] for a, b in PAIRS], dtype=float)
    known = scipy.stats.bootstrap(
        (differences,), np.mean, method="BCa", n_resamples=5000, rng=np.random.default_rng(3)
    ).confidence_interval
    found = ours.paired_difference(PAIRS, scale=100.0)
    assert (found.interval.low, found.interval.high) == pytest.approx(
        (known.low, known.high), abs=1.5
    )


def test_the_p_value_of_paired_scores_is_near_that_of_a_t_test_on_normal_differences() -> None:
    generator = random.Random(2)
    pairs = [([0.0], [generator.gauss(0.25, 1)]) for _ in range(100)]
    known = scipy.stats.ttest_1samp([b[0] for _, b in pairs], 0).pvalue
    assert ours.paired_difference(pairs).p_value == pytest.approx(known, abs=0.01)


def test_effect_and_smallest_difference_agree_with_a_calculation_by_hand() -> None:
    # Differences 10, 0, 40, 0, 12, -1, -40, 18: mean 4.875, sum of squares 3769, less 8 * 4.875^2 =
    # 190.125. s = sqrt(3578.875 / 7) = 22.611; d_z = 0.21560; (1.95996 + 0.84162) * 22.611 /
    # sqrt(8) = 22.397.
    found = ours.paired_difference(PAIRS, scale=100.0)
    assert found.effect == pytest.approx(0.21560, abs=1e-5)
    assert found.smallest == pytest.approx(22.397, abs=1e-3)


def test_the_smallest_difference_agrees_with_statsmodels_power() -> None:
    found = ours.paired_difference(PAIRS, scale=100.0)
    assert found.smallest is not None
    spread = np.std([b[0] - a[0] for a, b in PAIRS], ddof=1)
    power = NormalIndPower().power(found.smallest / spread, nobs1=8, alpha=0.05, ratio=0)
    assert power == pytest.approx(ours.POWER, abs=1e-6)


@pytest.mark.parametrize(("n", "share"), [(5, None), (6, 1.0), (100, 0.06)])
def test_fewer_than_six_flips_one_way_are_never_significant(n: int, share: float | None) -> None:
    assert ours.mcnemar(0, 5) > 0.05 > ours.mcnemar(0, 6)
    assert ours.smallest_share(n) == share


def test_pairs_that_differ_by_noise_alone_are_rarely_called_different() -> None:
    generator = random.Random(5)
    p_values = [
        ours.paired_difference(
            [([generator.gauss(0, 1)], [generator.gauss(0, 1)]) for _ in range(40)]
        ).p_value
        for _ in range(60)
    ]
    assert sum(p is not None and p < 0.05 for p in p_values) <= 9  # expected 3, +- 1.7


def test_holm_agrees_with_a_calculation_by_hand() -> None:
    # Sorted 0.01 0.02 0.03 0.04 times 4 3 2 1: 0.04 0.06 0.06 0.04, and never falling: 0.04 0.06
    # 0.06 0.06.
    found = ours.holm({"d": 0.04, "a": 0.01, "c": 0.03, "b": 0.02})
    assert list(found) == ["d", "a", "c", "b"]
    assert found == pytest.approx({"a": 0.04, "b": 0.06, "c": 0.06, "d": 0.06})


@pytest.mark.parametrize(
    "p_values", [[0.2], [0.01, 0.04, 0.03], [0.5, 0.5, 0.001, 0.02, 0.02], [1.0, 0.0, 0.9]]
)
def test_holm_agrees_with_statsmodels(p_values: list[float]) -> None:
    found = ours.holm({str(place): p_value for place, p_value in enumerate(p_values)})
    assert list(found.values()) == pytest.approx(list(multipletests(p_values, method="holm")[1]))


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=6))
def test_holm_never_lowers_a_p_value_nor_changes_their_order(p_values: dict[str, float]) -> None:
    found = ours.holm(p_values)
    assert all(p_values[name] <= found[name] <= 1 for name in p_values)
    ranked = sorted(p_values, key=lambda name: p_values[name])
    assert [found[name] for name in ranked] == sorted(found.values())
