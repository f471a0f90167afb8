from __future__ import annotations

import math
import random

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import NormalIndPower

from pytest_llmeval.results import paired as ours

unhurried = settings(deadline=None)  # other tests run beside

PAIRS = [
    ([a], [b])
    for a, b in zip(
        (20, 35, 60, 100, 0, 41, 100, 7), (30, 35, 100, 100, 12, 40, 60, 25), strict=True
    )
]


def flips(gained: int, lost: int, n: int) -> list[tuple[list[float], list[float]]]:
    """Return so many gained and lost samples of `n` in one epoch."""
    outcomes = [(0.0, 1.0)] * gained + [(1.0, 0.0)] * lost + [(1.0, 1.0)] * (n - gained - lost)
    return [([a], [b]) for a, b in outcomes]


def test_the_test_of_one_epoch_is_mcnemars_with_a_correction_by_the_share_of_flips() -> None:
    # 9 against 3 of 100: the correction is sqrt(0.12) = 0.34641; 5.65359 / sqrt(12) = 1.63205.
    found = ours.paired_difference(flips(9, 3, 100)).mean
    assert found.z(0.0) == pytest.approx(5.65359 / math.sqrt(12), abs=1e-5)
    assert found.p_value() == pytest.approx(2 * scipy.stats.norm.sf(1.63205), abs=1e-5)


@pytest.mark.parametrize(("gained", "lost"), [(0, 1), (3, 9), (7, 7), (40, 61)])
def test_where_every_sample_flips_the_test_is_mcnemars_with_edwards_correction(
    gained: int, lost: int
) -> None:
    n = gained + lost
    known = mcnemar([[0, lost], [gained, 0]], exact=False, correction=gained != lost).pvalue
    assert ours.paired_difference(flips(gained, lost, n)).mean.p_value() == pytest.approx(known)


def test_the_interval_and_the_test_of_a_row_never_contradict_each_other() -> None:
    tables = ((b, c, n) for n in (1, 4, 7, 13) for b in range(n + 1) for c in range(n - b + 1))
    for gained, lost, n in tables:
        mean = ours.difference_of_outcomes(gained, lost, n)
        interval = mean.interval()
        assert (interval.low > 0 or interval.high < 0) == (mean.p_value() < 0.05)


@unhurried
@given(
    st.integers(1, 9).flatmap(
        lambda n: st.tuples(
            st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=n, max_size=n),
            st.lists(st.lists(st.booleans(), min_size=1, max_size=4), min_size=n, max_size=n),
        )
    )
)
def test_nor_do_they_with_several_epochs(runs: tuple[list[list[bool]], list[list[bool]]]) -> None:
    pairs = [([*map(float, a)], [*map(float, b)]) for a, b in zip(*runs, strict=True)]
    mean = ours.paired_difference(pairs).mean
    interval = mean.interval()
    assert (interval.low > 0 or interval.high < 0) == (mean.p_value() < 0.05)


def test_counts_of_flips_say_the_same_as_the_samples() -> None:
    for gained, lost, n in ((0, 0, 5), (2, 1, 9), (0, 4, 4), (3, 0, 30)):
        listed = ours.paired_difference(flips(gained, lost, n)).mean
        assert ours.difference_of_outcomes(gained, lost, n).interval() == listed.interval()


def test_epochs_that_repeat_each_other_add_nothing_but_finer_steps() -> None:
    once = ours.paired_difference(flips(3, 1, 40)).mean
    often = ours.paired_difference([(a * 4, b * 4) for a, b in flips(3, 1, 40)]).mean
    assert often.variance(-0.05) == pytest.approx(once.variance(-0.05))
    assert often.continuity == once.continuity / 4


def test_independent_epochs_narrow_the_interval() -> None:
    generator = random.Random(7)

    def run(epochs: int) -> list[list[float]]:
        return [[float(generator.random() < 0.5) for _ in range(epochs)] for _ in range(200)]

    def width(epochs: int) -> float:
        pairs = list(zip(run(epochs), run(epochs), strict=True))
        found = ours.paired_difference(pairs).mean.interval()
        return found.high - found.low

    assert width(4) == pytest.approx(width(1) / 2, rel=0.15)


def test_scores_have_no_steps_unless_they_are_all_or_nothing() -> None:
    assert ours.paired_difference(PAIRS, scale=100.0).mean.continuity == 0.0
    of_100 = [([100 * x for x in a], [100 * x for x in b]) for a, b in flips(2, 1, 10)]
    hundredfold = ours.paired_difference(of_100, scale=100.0).mean.interval()
    single = ours.paired_difference(flips(2, 1, 10)).mean.interval()
    assert (hundredfold.low, hundredfold.high) == pytest.approx(
        (100 * single.low, 100 * single.high)
    )


def test_a_clear_difference_of_pairs_is_found_and_signed_b_minus_a() -> None:
    pairs = [([10.0 + i], [20.0 + i + i % 3]) for i in range(60)]
    found = ours.paired_difference(pairs, scale=100.0)
    assert found.mean.mean == pytest.approx(11.0)  # 10 and the mean of 0, 1, 2
    assert found.mean.interval(0.95).low > 0
    assert found.mean.p_value() < 0.05


def test_a_gain_in_all_samples_seen_leaves_room_for_a_loss_that_none_of_them_shows() -> None:
    # A t-test calls 5 points in each of 20 samples proven. If one sample in 20 fell by 100 points,
    # nothing would be gained, and 20 samples miss such ones with the chance 0.95 ** 20 = 0.36.
    small = [([50.0], [55.0 + i % 2]) for i in range(20)]
    assert ours.paired_difference(small, scale=100.0).mean.interval().low < 0


def test_equal_pairs_do_not_differ() -> None:
    found = ours.paired_difference([([v], [v]) for v in (1.0, 0.0, 1.0)])
    assert (found.mean.mean, found.mean.p_value(), found.effect) == (0.0, 1.0, None)
    assert found.smallest is None


def test_effect_and_smallest_difference_agree_with_a_calculation_by_hand() -> None:
    # Differences 10, 0, 40, 0, 12, -1, -40, 18: mean 4.875, sum of squares 3769, less 8 * 4.875^2 =
    # 190.125. s = sqrt(3578.875 / 7) = 22.611; d_z = 0.21560; (1.95996 + 0.84162) * 22.611 /
    # sqrt(8) = 22.397. Of 8 samples 6 must flip, so 75 points are the least that could show.
    found = ours.paired_difference(PAIRS, scale=100.0)
    assert found.effect == pytest.approx(0.21560, abs=1e-5)
    assert found.smallest == 75.0


def test_the_smallest_difference_agrees_with_statsmodels_power() -> None:
    found = ours.paired_difference(PAIRS * 50, scale=100.0)
    assert found.smallest is not None
    spread = np.std([b[0] - a[0] for a, b in PAIRS * 50], ddof=1)
    power = NormalIndPower().power(found.smallest / spread, nobs1=400, alpha=0.05, ratio=0)
    assert power == pytest.approx(ours.POWER, abs=1e-6)


@pytest.mark.parametrize(
    ("n", "fewest"), [(3, None), (5, None), (6, 6), (13, 6), (14, 5), (1000, 4)]
)
def test_the_fewest_flips_are_those_that_are_significant(n: int, fewest: int | None) -> None:
    significant = [
        k for k in range(1, min(n, 9) + 1) if ours.difference_of_outcomes(k, 0, n).p_value() < 0.05
    ]
    assert ours.fewest_flips(n) == (significant[0] if significant else None) == fewest


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
