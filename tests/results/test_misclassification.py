"""The accuracy that is corrected for a judge's measured errors."""

from __future__ import annotations

import random
import runpy
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.results.confusion import Confusion
from pytest_llmeval.results.misclassification import Decided, Samples, rogan_gladen
from pytest_llmeval.results.statistics import wilson

ROOT = Path(__file__).parents[2]
SCRIPT: dict[str, Any] = runpy.run_path(str(ROOT / "performance" / "corrected_accuracy.py"))
PAGE = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")


def confusion(correct: int, accepted: int, incorrect: int, refused: int) -> Confusion:
    return Confusion(
        true_positives=accepted,
        false_negatives=correct - accepted,
        true_negatives=refused,
        false_positives=incorrect - refused,
    )


def judged(n: int, accepted: int) -> list[list[Decided]]:
    return [[Decided(correct=number < accepted, judged=True)] for number in range(n)]


def sure(n: int, correct: int) -> list[list[Decided]]:
    return [[Decided(correct=number < correct, judged=False)] for number in range(n)]


class Interval(NamedTuple):
    value: float
    low: float
    high: float


def corrected(samples: Samples, matrix: Confusion) -> Interval:
    found = rogan_gladen(samples, matrix)
    assert found is not None
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    return Interval(found.value, found.low, found.high)


def test_it_is_the_estimate_of_rogan_and_gladen() -> None:
    # 60 of 100 found correct, sensitivity 0.94, specificity 0.90: (0.6 + 0.9 - 1) / 0.84.
    found = corrected(judged(100, 60), confusion(50, 47, 50, 45))
    assert found.value == pytest.approx(0.5 / 0.84)
    # With s = 48/52 and t = 46/52 Z of these ends is 1.96 and -1.96.
    assert (found.low, found.high) == pytest.approx((0.45934, 0.73172), abs=1e-5)


def test_what_no_judge_decided_enters_as_it_is() -> None:
    # 40 of 100 answers are sure, 30 of them correct; the judge's 60 hold (36/60 + 0.9 - 1)/0.84.
    found = corrected([*sure(40, 30), *judged(60, 36)], confusion(50, 47, 50, 45))
    assert found.value == pytest.approx((30 + 60 * 0.5 / 0.84) / 100)
    alone = corrected(sure(40, 30), confusion(50, 47, 50, 45))
    plain = wilson(0.75, 40)
    assert (alone.value, alone.low, alone.high) == pytest.approx((0.75, plain.low, plain.high))


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
@settings(max_examples=60, deadline=None)
def test_with_a_perfect_judge_and_labels_without_end_it_is_the_interval_of_accuracy(
    run: tuple[int, int],
) -> None:
    n, accepted = run
    found = corrected(judged(n, accepted), confusion(10**9, 10**9, 10**9, 10**9))
    plain = wilson(accepted / n, n)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=1e-6)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[list[Decided]], Confusion]:
    decided = st.builds(Decided, correct=st.booleans(), judged=st.booleans())
    samples = draw(st.lists(st.lists(decided, min_size=1, max_size=4), min_size=1, max_size=40))
    counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))
    found = confusion(*draw(counts), *draw(counts))
    return samples, found


@given(cases())
@settings(max_examples=60, deadline=None)
def test_the_interval_holds_the_estimate_and_turns_with_the_outcomes(
    case: tuple[list[list[Decided]], Confusion],
) -> None:
    samples, matrix = case
    if matrix.unfit:
        return
    if rogan_gladen(samples, matrix) is None:
        return
    found = corrected(samples, matrix)
    assert 0 <= found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high <= 1
    # The share of incorrect answers, by the verdicts turned round.
    turned = corrected(
        [[Decided(not one.correct, one.judged) for one in sample] for sample in samples],
        confusion(matrix.incorrect, matrix.true_negatives, matrix.correct, matrix.true_positives),
    )
    ends = (1 - found.high, 1 - found.value, 1 - found.low)
    assert (turned.low, turned.value, turned.high) == pytest.approx(ends, abs=1e-6)


def test_epochs_of_a_sample_are_no_samples_of_their_own() -> None:
    matrix = confusion(50, 47, 50, 45)
    once = corrected(judged(40, 24), matrix)
    alike = corrected([sample * 5 for sample in judged(40, 24)], matrix)
    assert (alike.value, alike.low, alike.high) == pytest.approx((once.value, once.low, once.high))


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        (confusion(0, 0, 9, 9), "no case labelled correct has a verdict"),
        (confusion(9, 9, 0, 0), "no case labelled incorrect has a verdict"),
        (confusion(10, 4, 10, 6), "sensitivity 0.4 and specificity 0.6 add up to 1 or less"),
        (confusion(10, 0, 10, 0), "sensitivity 0 and specificity 0 add up to 1 or less"),
        (confusion(1000, 10, 1, 1), "1,001 labelled cases cannot show"),
    ],
)
def test_a_judge_that_does_not_follow_the_labels_corrects_nothing(
    matrix: Confusion, reason: str
) -> None:
    assert reason in matrix.unfit


def test_verdicts_that_no_accuracy_explains_refute_the_validation() -> None:
    # The judge lets pass 20 of 50 incorrect answers, and finds 43 of 50 correct ones correct.
    matrix = confusion(50, 43, 50, 30)
    found = {n: rogan_gladen(judged(100, n), matrix) for n in (10, 35, 92, 100)}
    assert [n for n, one in found.items() if one is None] == [10, 100]


TRUTHS = [
    (s, t, p)
    for (s, t), p in product(
        [(0.7, 0.9), (0.8, 0.8), (0.95, 0.9), (1.0, 0.9), (0.99, 1.0), (1.0, 1.0)],
        [0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0],
    )
]


def test_it_holds_the_true_accuracy_in_every_case_that_can_be_enumerated() -> None:
    n, labels = 12, 8
    ends = np.full((n + 1, labels + 1, labels + 1, 2), np.nan)
    for x, a, b in product(range(n + 1), range(labels + 1), range(labels + 1)):
        matrix = confusion(labels, a, labels, b)
        if not matrix.unfit and b <= a:
            found = rogan_gladen(judged(n, x), matrix)
            if found is None:
                continue
            ends[x, a, b] = found.low, found.high
            # The other half of the results is this one turned round.
            ends[n - x, b, a] = 1 - ends[x, a, b, 1], 1 - ends[x, a, b, 0]
    coverage = {}
    for s, t, p in TRUTHS:
        chance = (
            binomial(n, p * s + (1 - p) * (1 - t))[:, None, None]
            * binomial(labels, s)[None, :, None]
            * binomial(labels, t)[None, None, :]
        )
        chance = np.where(np.isnan(ends[..., 0]), 0.0, chance)
        held = (ends[..., 0] - 1e-9 <= p) & (p <= ends[..., 1] + 1e-9)
        coverage[s, t, p] = float(chance[held].sum() / chance.sum())
    assert min(coverage.values()) >= 0.93, coverage
    assert np.mean([*coverage.values()]) >= 0.95


def binomial(n: int, rate: float) -> Any:
    found = np.zeros(n + 1)
    counts, chances = SCRIPT["_binomial"](n, rate)
    found[counts.astype(int)] = chances
    return found


def test_it_holds_the_true_accuracy_with_strata_and_epochs() -> None:
    generator = random.Random(20)
    draws, missed = 120, {True: 0, False: 0}
    for _ in range(draws):
        matrix = confusion(40, hits(generator, 40, 0.9), 30, hits(generator, 30, 0.85))
        samples = [drawn_sample(generator) for _ in range(40)]
        found = corrected(samples, matrix)
        missed[True] += found.low > TRUE_ACCURACY
        missed[False] += found.high < TRUE_ACCURACY
    # Three standard errors above 2.5 %.
    assert max(missed.values()) / draws <= 0.025 + 3 * (0.025 * 0.975 / draws) ** 0.5


TRUE_ACCURACY = 0.3 * 0.8 + 0.7 * 0.5


def drawn_sample(generator: random.Random) -> list[Decided]:
    """Return three epochs of a sample: the prefilter decides 30 % of samples, the judge others."""
    if generator.random() < 0.3:
        chance = generator.betavariate(0.8, 0.2)
        return [Decided(generator.random() < chance, judged=False) for _ in range(3)]
    chance = generator.betavariate(0.5, 0.5)
    found = []
    for _ in range(3):
        correct = generator.random() < chance
        found.append(Decided(generator.random() < (0.9 if correct else 0.15), judged=True))
    return found


def hits(generator: random.Random, n: int, chance: float) -> int:
    return sum(generator.random() < chance for _ in range(n))


@given(st.integers(1, 50), st.integers(1, 30), st.data())
@settings(max_examples=60, deadline=None)
def test_the_published_tables_ask_about_the_same_interval(
    n: int, labels: int, data: st.DataObject
) -> None:
    x, a, b = (data.draw(st.integers(0, most)) for most in (n, labels, labels))
    matrix = confusion(labels, a, labels, b)
    if matrix.unfit:
        return
    if rogan_gladen(judged(n, x), matrix) is None:
        return
    found = corrected(judged(n, x), matrix)
    for end, inside in ((found.low, 1e-6), (found.high, -1e-6)):
        if end in {0, 1, found.value}:
            continue
        for accuracy, held in ((end + inside, True), (end - inside, False)):
            truth = SCRIPT["Truth"](n, labels, 1.0, 1.0, accuracy)
            z = SCRIPT["adjusted"](np.array(float(x)), np.array(a), np.array(b), truth)
            assert (abs(float(z)) <= SCRIPT["Z"]) is held


def test_the_page_has_the_figures_that_the_code_gives() -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith("| 20 | "))
    assert SCRIPT["cell"](SCRIPT["of_validation"](20, 20)) in row
    row = next(line for line in PAGE.splitlines() if line.startswith("| 50 | "))
    assert SCRIPT["cell"](SCRIPT["of_validation"](20, 50)) in row
