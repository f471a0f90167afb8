"""The score interval of a bounded mean: Wilson's, Tango's, and the same for all other values."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import product

import pytest
import scipy.optimize
import scipy.stats
from hypothesis import example, given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from pytest_llmeval.results.bounded_mean import BoundedMean, critical, samples_for

unhurried = settings(deadline=None)  # other tests run beside

VALUES = st.lists(st.floats(-1, 1).map(lambda value: round(value, 3)), min_size=1, max_size=12)
LEVELS = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99])


def differences(values: Sequence[float], continuity: float = 0.0) -> BoundedMean:
    return BoundedMean.of(values, lowest=-1.0, highest=1.0, continuity=continuity)


def flips(gained: int, lost: int, n: int) -> BoundedMean:
    return differences([1.0] * gained + [-1.0] * lost + [0.0] * (n - gained - lost))


def tango(gained: int, lost: int, n: int, change: float) -> float:
    """Return Tango's score statistic (1998), equations 9 to 11, for the difference `change`."""
    a, b = 2 * n, -gained - lost + (2 * n - gained + lost) * change
    c = -lost * change * (1 - change)
    rate = (math.sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a)
    variance = n * (2 * rate + change * (1 - change))
    return (gained - lost - n * change) / math.sqrt(variance)


def test_the_interval_is_tangos_of_published_examples() -> None:
    # Bentur et al. (2009), 1 against 7 of 21, as Fagerland, Lydersen and Laake work it out (2017).
    found = flips(1, 7, 21).interval()
    assert (round(found.low, 3), round(found.high, 3)) == (-0.517, -0.026)
    # What R's PropCIs::scoreci.mp gives for 25 against 28 of 618, at 90 %.
    found = flips(28, 25, 618).interval(0.90)
    assert (round(found.low, 4), round(found.high, 4)) == (-0.0148, 0.0247)


def test_the_statistic_of_flips_is_tangos_for_all_small_tables() -> None:
    for n, change in product((1, 2, 5, 9), (-0.9, -0.3, -0.05, 0.0001, 0.2, 0.7)):
        tables = ((b, c) for b in range(n + 1) for c in range(n + 1 - b))
        for gained, lost in tables:
            if (gained, lost) in {(0, 0), (n, 0), (0, n)}:
                continue  # all alike: bounded by the exact chance, see below
            known = tango(gained, lost, n, change)
            assert flips(gained, lost, n).z(change) == pytest.approx(known, abs=1e-6)


@pytest.mark.parametrize(("correct", "n"), [(1, 5), (11, 18), (1, 1000), (617, 2000)])
def test_the_interval_of_shares_is_wilsons(correct: int, n: int) -> None:
    known = scipy.stats.binomtest(correct, n).proportion_ci(method="wilson")
    values = [1.0] * correct + [0.0] * (n - correct)
    found = BoundedMean.of(values, lowest=0.0, highest=1.0).interval()
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=1e-9)


@given(
    counts=st.tuples(st.integers(0, 300), st.integers(0, 300)).filter(any),
    bounds=st.tuples(st.floats(-1, 0), st.floats(0.1, 2)),
    share=st.one_of(st.fractions("1/20", "19/20", max_denominator=20), st.floats(0.001, 0.999)),
)
@settings(max_examples=500, deadline=None)
@example(counts=(16, 128), bounds=(-9.999999737180684e-10, 1.0000000009999999), share=2 / 3)
@example(counts=(16, 2), bounds=(-0.7737895688496785, 0.3668764418933248), share=1 / 3)
@example(counts=(75, 6), bounds=(-1.0, 0.41776335605650117), share=1 / 3)
def test_values_at_the_bounds_alone_have_the_one_variance_that_their_mean_allows(
    counts: tuple[int, int], bounds: tuple[float, float], share: float
) -> None:
    lowest, highest = bounds
    values = [lowest] * counts[0] + [highest] * counts[1]
    found = BoundedMean.of(values, lowest=lowest, highest=highest)
    mean = lowest + (highest - lowest) * float(share)
    assert found.variance(mean) == pytest.approx((mean - lowest) * (highest - mean), rel=1e-6)


def test_the_variance_is_that_of_the_likeliest_distribution_with_the_mean_asked_about() -> None:
    seen, bounds, mean = [-0.4, 0.1, 0.3, 0.9], [-1.0, 1.0], -0.2
    support = [*seen, *bounds]
    best = scipy.optimize.minimize(
        lambda chances: -sum(math.log(max(chance, 1e-12)) for chance in chances[: len(seen)]),
        [1 / len(support)] * len(support),
        bounds=[(0, 1)] * len(support),
        constraints=[
            {"type": "eq", "fun": lambda chances: sum(chances) - 1},
            {"type": "eq", "fun": lambda chances: sum(chances * support) - mean},
        ],
    ).x
    known = sum(chance * (value - mean) ** 2 for chance, value in zip(best, support, strict=True))
    assert differences(seen).variance(mean) == pytest.approx(known, abs=1e-4)


@unhurried
@given(VALUES, LEVELS, st.floats(0, 1))
def test_the_interval_leaves_0_out_if_and_only_if_the_test_is_significant(
    values: list[float], level: float, continuity: float
) -> None:
    mean = differences(values, continuity)
    interval = mean.interval(level)
    assert -1 <= interval.low <= mean.mean <= interval.high <= 1
    assert (interval.low > 0 or interval.high < 0) == (mean.p_value() < 1 - level)


@unhurried
@given(VALUES, st.floats(-0.99, 0.99), st.floats(-0.99, 0.99))
def test_the_farther_a_mean_lies_off_the_less_it_fits(
    values: list[float], one: float, other: float
) -> None:
    low, high = sorted((one, other))
    assert differences(values).z(low) >= differences(values).z(high) - 1e-6


@unhurried
@given(VALUES)
def test_gains_and_losses_are_told_alike(values: list[float]) -> None:
    found = differences(values).interval()
    mirrored = differences([-value for value in values]).interval()
    assert (found.low, found.high) == pytest.approx((-mirrored.high, -mirrored.low), abs=1e-7)


@unhurried
@given(VALUES, LEVELS)
def test_an_end_is_where_the_test_is_just_significant(values: list[float], level: float) -> None:
    mean = differences(values)
    for end in (mean.interval(level).low, mean.interval(level).high):
        if abs(end) < 0.999:  # the bounds themselves are never left out
            assert mean.p_value(end) == pytest.approx(1 - level, rel=1e-3)


@pytest.mark.parametrize("n", [1, 5, 43])
def test_samples_that_are_all_alike_leave_room_for_the_rare_one_that_is_not(n: int) -> None:
    _, unseen = proportion_confint(0, n, alpha=0.05, method="beta")
    found = differences([0.0] * n).interval()
    assert found.high >= unseen - 1e-9
    assert (found.low, found.high) == pytest.approx((-found.high, found.high))
    assert differences([0.0] * n).p_value() == 1.0


@unhurried
@given(VALUES, st.floats(-0.9, 0.9))
def test_the_samples_to_tell_are_the_fewest_like_these_that_leave_the_limit_out(
    values: list[float], limit: float
) -> None:
    def of(n: int) -> BoundedMean:
        seen = differences(values)
        counts = tuple(count * n / seen.n for count in seen.counts)
        return BoundedMean(
            values=seen.values, weights=seen.weights, counts=counts, lowest=-1.0, highest=1.0
        )

    needed = differences(values).samples_to_tell(limit)
    if abs(differences(values).mean - limit) < 1e-3:
        return
    assert needed is not None
    assert of(needed).p_value(limit) <= 0.05 + 1e-6
    assert needed == 1 or of(needed - 1).p_value(limit) > 0.05 - 1e-6


def test_no_number_of_samples_tells_a_mean_from_itself() -> None:
    assert flips(1, 1, 10).samples_to_tell(0.0) is None
    assert differences([0.1] * 3).samples_to_tell(0.1) is None
    assert differences([0.1] * 3).z(0.1) == 0.0


def test_unequal_weights_count_as_they_do_in_the_mean() -> None:
    # A sample of 3 epochs beside two of 1: its mean weighs 3/5 of all.
    mean = BoundedMean.of([0.2, 0.4, 0.9], weights=[1.8, 0.6, 0.6], lowest=0.0, highest=1.0)
    assert mean.mean == pytest.approx((3 * 0.2 + 0.4 + 0.9) / 5)
    assert mean.interval().low < mean.mean < mean.interval().high


def test_the_interval_covers_a_skewed_mean_about_as_often_as_it_says() -> None:
    # 300 draws of 40 from a mixture with mean 0.3 * 1 + 0.7 * 0.25 = 0.475; 95 % +- 3 standard
    # errors of 1.3.
    generator = random.Random(11)
    hits = 0
    for _ in range(300):
        values = [1.0 if generator.random() < 0.3 else generator.uniform(0, 0.5) for _ in range(40)]
        hits += BoundedMean.of(values, lowest=0.0, highest=1.0).p_value(0.475) >= 0.05
    assert 0.91 <= hits / 300 <= 0.99


def test_the_order_of_samples_changes_no_digit() -> None:
    values = [0.1, -0.7, 0.35, 0.2, 0.2, -0.05]
    assert differences(values).interval() == differences(values[::-1]).interval()


def test_the_smallest_number_of_samples_is_the_root_of_its_equation() -> None:
    for off, spread, continuity in product((0.01, 0.05, 0.3), (0.2, 1.0), (0.0, 1.0)):
        n = samples_for(off, spread, continuity)
        assert n * off - continuity >= spread * math.sqrt(n) - 1e-6
        assert n == 1 or (n - 1) * off - continuity < spread * math.sqrt(n - 1)


def test_the_critical_value_of_95_percent_is_the_usual_one() -> None:
    assert critical(0.95) == pytest.approx(1.959964, abs=1e-6)
