from __future__ import annotations

import math
import random
from itertools import product

import numpy as np
import pytest
import scipy.stats
import statsmodels.api as sm
from statsmodels.stats.proportion import proportion_confint

from pytest_llmeval.results import statistics as ours
from pytest_llmeval.results.means import interval_of

SINGLES = [
    [12.5],
    [100.0],
    [0.0],
    [60.0],
    [41.2],
    [100.0],
    [33.3],
    [7.0],
    [100.0],
    [58.8],
    [0.0],
    [22.0],
]


def test_wilson_agrees_with_a_calculation_by_hand() -> None:
    # 1 of 4, z = 1.96: shrink = 1 + 3.8416/4 = 1.9604; centre = (0.25 + 3.8416/8) / 1.9604 =
    # 0.37247 half = 1.96 / 1.9604 * sqrt(0.1875/4 + 3.8416/64) = 0.99980 * 0.32693 = 0.32687
    interval = ours.wilson(0.25, 4)
    assert interval.low == pytest.approx(0.0456, abs=1e-4)
    assert interval.high == pytest.approx(0.6994, abs=1e-4)


@pytest.mark.parametrize(("correct", "n"), [(0, 5), (5, 5), (11, 18), (1, 1000), (617, 2000)])
def test_wilson_agrees_with_scipy(correct: int, n: int) -> None:
    known = scipy.stats.binomtest(correct, n).proportion_ci(method="wilson")
    interval = ours.wilson(correct / n, n)
    assert (interval.low, interval.high) == pytest.approx((known.low, known.high), abs=1e-12)


@pytest.mark.parametrize(("correct", "n"), [(0, 5), (5, 5), (11, 18), (617, 2000)])
def test_wilson_agrees_with_statsmodels(correct: int, n: int) -> None:
    interval = ours.wilson(correct / n, n)
    assert (interval.low, interval.high) == pytest.approx(
        proportion_confint(correct, n, alpha=0.05, method="wilson"), abs=1e-12
    )


def test_the_clustered_error_agrees_with_statsmodels_sandwich() -> None:
    generator = random.Random(3)
    clusters = [
        [generator.gauss(i % 5, 1) for _ in range(generator.randint(1, 6))] for i in range(40)
    ]
    values = np.concatenate([np.array(cluster) for cluster in clusters])
    groups = np.repeat(np.arange(len(clusters)), [len(cluster) for cluster in clusters])
    # A regression on nothing but a constant estimates the mean; its small-sample factor is then G /
    # (G - 1).
    fit = sm.OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": groups})
    assert ours.clustered_error(clusters) == pytest.approx(fit.bse[0], rel=1e-9)


def test_the_clustered_error_of_single_epochs_is_the_usual_one() -> None:
    values = [cluster[0] for cluster in SINGLES]
    assert ours.clustered_error(SINGLES) == pytest.approx(
        np.std(values, ddof=1) / math.sqrt(len(values))
    )


def test_the_clustered_error_agrees_with_a_calculation_by_hand() -> None:
    # Samples (1, 1), (0, 0), (1, 0): mean 0.5; sums of deviations 1, -1, 0; squares add to 2.
    # G = 3: sqrt(3/2 * 2) / 6 = sqrt(3) / 6. Six independent values would give sqrt(0.3/6) = 0.22.
    assert ours.clustered_error([[1, 1], [0, 0], [1, 0]]) == pytest.approx(math.sqrt(3) / 6)


def test_repeating_every_sample_does_not_narrow_an_interval() -> None:
    once = [[1.0], [0.0], [1.0], [1.0], [0.0], [0.0], [1.0], [0.0]]
    often = [cluster * 10 for cluster in once]
    assert ours.clustered_error(often) == pytest.approx(ours.clustered_error(once))
    assert ours.proportion_interval(often) == ours.proportion_interval(once)
    thirds = [[v / 3] for [v] in once]
    assert interval_of([cluster * 10 for cluster in thirds], 1.0) == pytest.approx(
        interval_of(thirds, 1.0)
    )


def test_independent_epochs_narrow_a_proportion_up_to_the_number_of_values() -> None:
    generator = random.Random(7)
    clusters = [[float(generator.random() < 0.5) for _ in range(4)] for _ in range(200)]
    found = ours.proportion_interval(clusters)
    all_values = ours.wilson(sum(map(sum, clusters)) / 800, 800)
    assert found is not None
    assert found.high - found.low == pytest.approx(all_values.high - all_values.low, rel=0.15)
    assert found.high - found.low >= all_values.high - all_values.low


def test_nothing_has_no_mean() -> None:
    assert ours.mean([]) is None
    assert ours.clustered_error([]) is None
    assert ours.proportion_interval([]) is None


@pytest.mark.parametrize(
    ("n", "correct", "k"), [(5, 2, 1), (5, 2, 3), (4, 0, 2), (4, 4, 2), (6, 1, 6)]
)
def test_pass_rates_are_the_share_of_all_choices_of_k_epochs(n: int, correct: int, k: int) -> None:
    outcomes = [True] * correct + [False] * (n - correct)
    choices = [pick for pick in product(range(n), repeat=k) if len(set(pick)) == k]
    once = sum(any(outcomes[i] for i in pick) for pick in choices) / len(choices)
    every = sum(all(outcomes[i] for i in pick) for pick in choices) / len(choices)
    assert ours.pass_at_k(n, correct, k) == pytest.approx(once)
    assert ours.pass_all_k(n, correct, k) == pytest.approx(every)


@pytest.mark.parametrize("k", [1, 10, 100])
@pytest.mark.parametrize("correct", [0, 1, 7, 100, 199, 200])
def test_pass_at_k_of_humanevals_two_hundred_programs_is_that_of_its_paper(
    correct: int, k: int
) -> None:
    # The numerically stable form of Chen et al. (2021), as their code has it.
    n, wrong = 200, 200 - correct
    product_of = math.prod(1 - k / one for one in range(wrong + 1, n + 1))
    stable = 1.0 if wrong < k else 1 - product_of
    assert ours.pass_at_k(n, correct, k) == pytest.approx(stable, abs=1e-12)
