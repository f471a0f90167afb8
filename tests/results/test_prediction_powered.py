"""The accuracy by outcomes of all answers and labels of some of them."""

from __future__ import annotations

import random
import runpy
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.results.prediction_powered import Labelled, prediction_powered

ROOT = Path(__file__).parents[2]
SCRIPT: dict[str, Any] = runpy.run_path(str(ROOT / "performance" / "corrected_accuracy.py"))
PAGE = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")


def run_of(
    answers: int, correct: int, labels: list[tuple[bool, bool]]
) -> tuple[list[list[bool]], dict[str, list[Labelled]]]:
    scored = [[number < correct] for number in range(answers)]
    return scored, {str(number): [Labelled(*one)] for number, one in enumerate(labels)}


def labels_of(right: int, over: int, missed: int, refused: int) -> list[tuple[bool, bool]]:
    """Return labels: of answers scored correct `right` are and `over` are not, and so on."""
    return (
        [(True, True)] * right
        + [(True, False)] * over
        + [(False, True)] * missed
        + [(False, False)] * refused
    )


def test_it_is_the_power_tuned_estimate() -> None:
    """By hand: 100 answers, 70 scored correct, 20 labelled.

    Of 14 labelled among the 70 there are 12 correct, of 6 among the 30 one: 0.7 * 12/14 + 0.3 / 6.
    PPI++ with the weight cov(label, outcome) / var(outcome) = 12/14 - 1/6, over all answers:
    mean label 13/20 + weight * (0.7 - 14/20), the same.
    """
    found = prediction_powered(*run_of(100, 70, labels_of(12, 2, 1, 5)))
    assert found.value == pytest.approx(0.65)
    found = prediction_powered(*run_of(100, 80, labels_of(12, 2, 1, 5)))
    weight = 12 / 14 - 1 / 6
    assert found.value == pytest.approx(0.8 * 12 / 14 + 0.2 / 6)
    assert found.value == pytest.approx(13 / 20 + weight * (0.8 - 14 / 20))


def test_it_is_what_the_authors_package_says() -> None:
    """With its own weight, and so many labels that the two intervals are the same."""
    ppi_py = pytest.importorskip("ppi_py", reason="ppi_py is not installed")
    scored, labelled = run_of(6000, 4000, labels_of(1150, 150, 60, 640))
    mine = prediction_powered(scored, labelled)
    flat = [one for sample in labelled.values() for one in sample]
    labels = np.array([float(one.label) for one in flat])
    outcomes = np.array([float(one.scored) for one in flat])
    others = np.array([1.0] * (4000 - 1300) + [0.0] * (2000 - 700))
    weight = (1150 / 1300 - 60 / 700) / (1 + 2000 / 4000)
    point = ppi_py.ppi_mean_pointestimate(labels, outcomes, others, lam=weight)
    low, high = ppi_py.ppi_mean_ci(labels, outcomes, others, alpha=0.05, lam=weight)
    assert mine.value == pytest.approx(float(point[0]), abs=1e-9)
    assert (mine.low, mine.high) == pytest.approx((float(low[0]), float(high[0])), abs=1e-3)


def test_outcomes_that_never_vary_say_nothing_and_the_labels_count_alone() -> None:
    found = prediction_powered(*run_of(50, 40, labels_of(18, 2, 0, 0)))
    assert found.value == 0.9


tables = st.tuples(*[st.integers(0, 12)] * 4).filter(lambda counts: sum(counts) > 0)


@given(tables, st.integers(0, 40), st.integers(0, 40))
@settings(max_examples=150, deadline=None)
def test_the_interval_holds_the_estimate_and_turns_with_the_outcomes(
    counts: tuple[int, int, int, int], more: int, others: int
) -> None:
    right, over, missed, refused = counts
    answers, correct = sum(counts) + more + others, right + over + more
    found = prediction_powered(*run_of(answers, correct, labels_of(*counts)))
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high <= 1
    turned = prediction_powered(
        *run_of(answers, answers - correct, labels_of(refused, missed, over, right))
    )
    ends = (1 - found.high, 1 - found.value, 1 - found.low)
    assert (turned.low, turned.value, turned.high) == pytest.approx(ends)


def test_epochs_that_are_alike_are_worth_one() -> None:
    labels = labels_of(12, 2, 1, 5)
    once = prediction_powered(*run_of(100, 70, labels))
    scored, labelled = run_of(100, 70, labels)
    alike = prediction_powered(
        [sample * 4 for sample in scored], {name: one * 4 for name, one in labelled.items()}
    )
    assert (alike.value, alike.low, alike.high) == pytest.approx((once.value, once.low, once.high))


@given(st.integers(0, 9), st.data())
@settings(max_examples=60, deadline=None)
def test_the_published_tables_ask_about_the_same_interval(more: int, data: st.DataObject) -> None:
    right, over, missed, _ = counts = data.draw(tables)
    labelled, correct = sum(counts), right + over
    found = prediction_powered(*run_of(labelled + 9, correct + more, labels_of(*counts)))
    counts_of_run = SCRIPT["Labels"](labelled + 9, correct + more, labelled, correct, right, missed)
    low, high = SCRIPT["powered"](counts_of_run)
    assert (found.low, found.high) == pytest.approx((float(low), float(high)))


@pytest.mark.parametrize(("answers", "labelled"), [(20, 20), (32, 20), (40, 24)])
def test_it_holds_the_true_accuracy_in_every_case_that_can_be_enumerated(
    answers: int, labelled: int
) -> None:
    """All results with their chances: from twenty labels on the interval holds."""
    of_correct, counted, hits, further = np.meshgrid(
        *(np.arange(most + 1) for most in (labelled, answers - labelled, labelled, labelled)),
        indexing="ij",
        sparse=True,
    )
    # More correct ones than there are have no chance; they are set to the most there are.
    hits_of = np.minimum(hits, of_correct)
    further_of = np.minimum(further, labelled - of_correct)
    low, high = SCRIPT["powered"](
        SCRIPT["Labels"](answers, counted + of_correct, labelled, of_correct, hits_of, further_of)
    )
    coverage = {}
    for share, (right, missed) in product((0.05, 0.5, 0.9, 1.0), SCRIPT["PREDICTIVE"]):
        chance = (
            pmf(labelled, labelled, share)[:, None, None, None]
            * pmf(answers - labelled, answers - labelled, share)[None, :, None, None]
            * np.array([pmf(k, labelled, right) for k in range(labelled + 1)])[:, None, :, None]
            * np.array([pmf(labelled - k, labelled, missed) for k in range(labelled + 1)])[
                :, None, None, :
            ]
        )
        truth = share * right + (1 - share) * missed
        held = (low - 1e-12 <= truth) & (truth <= high + 1e-12)
        coverage[share, right, missed] = float(np.where(held, chance, 0.0).sum())
    assert min(coverage.values()) >= 0.925, coverage


def pmf(n: int, most: int, rate: float) -> Any:
    found = np.zeros(most + 1)
    counts, chances = SCRIPT["_binomial"](n, rate)
    found[counts.astype(int)] = chances
    return found


def test_it_holds_the_true_accuracy_with_epochs() -> None:
    generator = random.Random(7)
    draws, missed = 400, {True: 0, False: 0}
    for _ in range(draws):
        answers = [(number, answer) for number in range(50) for answer in three_epochs(generator)]
        drawn = generator.sample(answers, 40)
        labelled: dict[str, list[Labelled]] = {}
        for number, answer in drawn:
            labelled.setdefault(str(number), []).append(answer)
        samples = [[one.scored for owner, one in answers if owner == n] for n in range(50)]
        found = prediction_powered(samples, labelled)
        assert found.low is not None
        assert found.high is not None
        missed[True] += found.low > 0.6
        missed[False] += found.high < 0.6
    assert max(missed.values()) / draws <= 0.025 + 3 * (0.025 * 0.975 / draws) ** 0.5


def three_epochs(generator: random.Random) -> list[Labelled]:
    chance = generator.betavariate(0.6, 0.4)
    labels = [generator.random() < chance for _ in range(3)]
    return [Labelled(generator.random() < (0.9 if label else 0.1), label) for label in labels]


def test_the_page_has_the_figures_that_the_code_gives() -> None:
    lines = [line for line in PAGE.splitlines() if line.startswith("| 20 | ")]
    assert SCRIPT["cell"](SCRIPT["of_labels"](200, 20)) in lines[1]
