"""How often the interval of the corrected accuracy holds the true one, and how wide it is.

python performance/corrected_accuracy.py

prints the tables of docs/statistics.md, in some minutes. With a validation on other answers every
result is enumerated: the numbers of answers that the judge finds correct, in the run and among the
labelled cases of either label, are binomial. With labels of the run's own answers 20,000 runs are
drawn for each truth. The formulas are those of `results.misclassification` (answers of one epoch,
all judged) and `results.prediction_powered` for arrays; tests hold the two to each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_llmeval.results.bounded_mean import critical

Array: TypeAlias = NDArray[np.float64]
Covers: TypeAlias = Callable[[Array, Array, Array, "Truth"], Array]

Z = critical(0.95)
RATES = (0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Sensitivities and specificities, in all pairs."""

ACCURACIES = (0.0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1.0)
SIZES = (20, 100, 500, 2000)
LABELS = (10, 20, 50, 100, 500)
"""Labelled cases of either label."""

PREDICTIVE = (
    *((1.0, 0.0), (0.98, 0.0), (1.0, 0.05), (0.95, 0.05)),
    *((0.9, 0.3), (0.8, 0.1), (0.6, 0.4)),
)
"""Shares of correct answers among those scored correct, and among the others."""

SCORED = (0.02, 0.1, 0.3, 0.5, 0.8, 0.95, 1.0)
"""Shares scored correct."""

DRAWS = 20_000
_RARE = 1e-9
_LOG_FACTORIALS = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, 10_001)))])


@dataclass(frozen=True)
class Truth:
    """A run of `n` answers, and a judge that was measured on `labels` cases of either label."""

    n: int
    labels: int
    sensitivity: float
    specificity: float
    accuracy: float

    @property
    def found(self) -> float:
        """The chance that the judge finds an answer of the run correct."""
        return self.accuracy * self.sensitivity + (1 - self.accuracy) * (1 - self.specificity)


def adjusted(found: Array, right: Array, wrong: Array, truth: Truth) -> Array:
    """Return Z of the true accuracy, as the package works it out."""
    s, t = (right + 1) / (truth.labels + 2), (wrong + 1) / (truth.labels + 2)
    p = truth.accuracy
    expected = p * s + (1 - p) * (1 - t)
    spread = p * p * s * (1 - s) + (1 - p) ** 2 * t * (1 - t)
    variance = expected * (1 - expected) / truth.n + spread / (truth.labels + 2)
    return (found / truth.n - expected) / np.sqrt(variance)


def lang_reiczigel(found: Array, right: Array, wrong: Array, truth: Truth) -> Array:
    """Return 0 where the interval of Lang and Reiczigel (2014) holds the true accuracy."""
    n, labels = truth.n + Z * Z, truth.labels + 2
    q, s, t = (found + Z * Z / 2) / n, (right + 1) / labels, (wrong + 1) / labels
    p = (q + t - 1) / (s + t - 1)
    shift = 2 * Z * Z * (p * s * (1 - s) - (1 - p) * t * (1 - t)) / labels
    spread = (p * p * s * (1 - s) + (1 - p) ** 2 * t * (1 - t)) / labels
    error = np.sqrt(q * (1 - q) / n + spread) / np.abs(s + t - 1)
    return _outside(p + shift, error, truth.accuracy)


def wald(found: Array, right: Array, wrong: Array, truth: Truth) -> Array:
    """Return 0 where the usual interval of Rogan and Gladen's estimate holds the true accuracy."""
    q, s, t = found / truth.n, right / truth.labels, wrong / truth.labels
    p = (q + t - 1) / (s + t - 1)
    spread = (p * p * s * (1 - s) + (1 - p) ** 2 * t * (1 - t)) / truth.labels
    error = np.sqrt(q * (1 - q) / truth.n + spread) / (s + t - 1)
    return _outside(p, error, truth.accuracy)


def _outside(centre: Array, error: Array, accuracy: float) -> Array:
    """Return +9 where the interval, cut to 0..1, lies above the accuracy, -9 below, else 0."""
    low, high = (np.clip(centre + sign * Z * error, 0, 1) for sign in (-1, 1))
    return np.where(accuracy < low - 1e-12, 9.0, np.where(accuracy > high + 1e-12, -9.0, 0.0))


METHODS: dict[str, Covers] = {
    "used here": adjusted,
    "Lang and Reiczigel": lang_reiczigel,
    "Wald": wald,
}


def misses(truth: Truth, method: Covers = adjusted) -> tuple[float, float]:
    """Return the chances that the interval lies above, and below, the true accuracy.

    Results by which the judge is not better than chance have no interval, and do not count.
    """
    found, weight = _binomial(truth.n, truth.found)
    right, of_right = _binomial(truth.labels, truth.sensitivity)
    wrong, of_wrong = _binomial(truth.labels, truth.specificity)
    x, a, b = np.meshgrid(found, right, wrong, indexing="ij", sparse=True)
    chances = weight[:, None, None] * of_right[None, :, None] * of_wrong[None, None, :]
    chances = np.where(a + b > truth.labels, chances, 0.0)
    with np.errstate(all="ignore"):
        z = method(x, a, b, truth)
    total = float(chances.sum())
    return float(chances[z > Z].sum()) / total, float(chances[z < -Z].sum()) / total


def of_validation(n: int, labels: int, method: Covers = adjusted) -> Array:
    """Return `misses` for all truths: one row each."""
    pairs = product(product(RATES, RATES), ACCURACIES)
    return np.array(
        [misses(Truth(n, labels, s, t, accuracy), method) for (s, t), accuracy in pairs]
    )


def of_labels(answers: int, labelled: int) -> Array:
    """Return the shares of intervals above and below the true accuracy, one row for each truth."""
    generator = np.random.default_rng(answers * 1_000 + labelled)
    rows = []
    for share, (right, missed) in product(SCORED, PREDICTIVE):
        of_correct = generator.binomial(labelled, share, DRAWS)
        counted = of_correct + generator.binomial(answers - labelled, share, DRAWS)
        hits = generator.binomial(of_correct, right)
        further = generator.binomial(labelled - of_correct, missed)
        found = (counted, of_correct, hits, further)
        scored, of_scored, right_ones, further_ones = (one.astype(np.float64) for one in found)
        low, high = powered(Labels(answers, scored, labelled, of_scored, right_ones, further_ones))
        accuracy = share * right + (1 - share) * missed
        rows.append((np.mean(low > accuracy + 1e-12), np.mean(high < accuracy - 1e-12)))
    return np.array(rows)


@dataclass(frozen=True)
class Labels:
    """Counts of answers, one of each array for one run.

    Attributes:
        answers: of all answers.
        scored: of those scored correct.
        labelled: of labelled ones.
        of_correct: of labelled ones that were scored correct.
        hits: of these that are correct.
        further: of other labelled ones that are correct.
    """

    answers: int
    scored: Array
    labelled: int
    of_correct: Array
    hits: Array
    further: Array


def powered(found: Labels) -> tuple[Array, Array]:
    """Return the ends of the intervals by labels of the run's own answers."""
    trials, others = found.answers + 2, found.labelled - found.of_correct + 2
    hits = found.of_correct + 2
    q, a, b = (found.scored + 1) / trials, (found.hits + 1) / hits, (found.further + 1) / others
    of_scored = q * (1 - q) / trials * (a - b) ** 2
    of_labels = q * q * a * (1 - a) / hits + (1 - q) ** 2 * b * (1 - b) / others
    centre, half = q * a + (1 - q) * b, Z * np.sqrt(of_scored + of_labels)
    return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)


def _binomial(n: int, rate: float) -> tuple[Array, Array]:
    """Return the counts that are not too rare to matter, and their chances."""
    counts = np.arange(n + 1, dtype=np.float64)
    if rate in {0.0, 1.0}:
        return counts[[round(rate) * n]], np.ones(1)
    whole = np.arange(n + 1)
    ways = _LOG_FACTORIALS[n] - _LOG_FACTORIALS[whole] - _LOG_FACTORIALS[n - whole]
    chances = np.exp(ways + counts * math.log(rate) + (n - counts) * math.log1p(-rate))
    kept = chances > _RARE
    return counts[kept], chances[kept]


def cell(missed: Array) -> str:
    """Return mean and least coverage."""
    coverage = 1 - missed.sum(axis=1)
    return f"{coverage.mean():.3f}, {coverage.min():.3f}"


def tables() -> Iterator[str]:
    """Yield the lines of all tables, as Markdown."""
    yield from _table(
        "cases of either label",
        LABELS,
        [f"n = {n:,}" for n in SIZES],
        lambda labels: [cell(of_validation(n, labels)) for n in SIZES],
    )
    yield ""
    yield "| interval | mean | least | most above | most below |"
    yield "|---|---|---|---|---|"
    for name, method in METHODS.items():
        found = np.concatenate(
            [of_validation(n, labels, method) for n in SIZES[:3] for labels in LABELS[:4]]
        )
        coverage = 1 - found.sum(axis=1)
        ends = (coverage.mean(), coverage.min(), *found.max(axis=0))
        yield f"| {name} | " + " | ".join(f"{end:.3f}" for end in ends) + " |"
    yield ""
    yield from _table(
        "labelled",
        (20, 50, 100),
        ["all", "200 answers", "1,000 answers"],
        lambda labels: [cell(of_labels(n, labels)) for n in (labels, 200, 1_000)],
    )


def _table(
    head: str, rows: Sequence[int], columns: Sequence[str], cells: Callable[[int], Sequence[str]]
) -> Iterator[str]:
    yield f"| {head} | " + " | ".join(columns) + " |"
    yield "|---|" + "---|" * len(columns)
    for row in rows:
        yield f"| {row:,} | " + " | ".join(cells(row)) + " |"


if __name__ == "__main__":
    print("\n".join(tables()))
