"""Intervals and errors: pure functions of numbers.

Values come as *clusters*: one sequence of values a sample, one value an epoch. Samples are
independent of each other, epochs of one sample are not, so every error goes by sample.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import TypeAlias

CONFIDENCE = 0.95
"""Level of every interval."""

Clusters: TypeAlias = Sequence[Sequence[float]]
"""The values of each sample, one an epoch; no cluster is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A confidence interval, in the unit of what it is about."""

    low: float
    high: float


def mean(clusters: Clusters) -> float | None:
    """Return the mean of all values, None when there are none."""
    count = sum(map(len, clusters))
    return math.fsum(value for cluster in clusters for value in cluster) / count if count else None


def wilson(proportion: float, n: float, confidence: float = CONFIDENCE) -> Interval:
    """Return Wilson's score interval (1927) of a proportion seen in `n` > 0 trials.

    `n` need not be whole, as an effective number of trials.
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    shrink = 1 + z * z / n
    centre = (proportion + z * z / (2 * n)) / shrink
    half = z / shrink * math.sqrt(proportion * (1 - proportion) / n + z * z / (4 * n * n))
    return Interval(low=max(0.0, centre - half), high=min(1.0, centre + half))


def clustered_error(clusters: Clusters) -> float | None:
    """Return the standard error of the mean, clustered by sample; None under two samples.

    The sandwich form of Miller, "Adding Error Bars to Evals" (2024), with the factor G/(G-1) for G
    samples; with one epoch it is the usual s / sqrt(n).
    """
    groups, centre = len(clusters), mean(clusters)
    if groups < 2 or centre is None:  # noqa: PLR2004 - a spread needs two
        return None
    count = sum(map(len, clusters))
    squares = math.fsum(math.fsum(value - centre for value in cluster) ** 2 for cluster in clusters)
    return math.sqrt(groups / (groups - 1) * squares) / count


def effective_trials(clusters: Clusters) -> float:
    """Return how many independent values the values of one cluster or more are worth.

    One epoch: all. Several: their variance / SE² with the clustered error (Kish's design effect),
    held between the number of samples (epochs added nothing) and the number of values (epochs were
    independent).
    """
    centre, error = mean(clusters) or 0.0, clustered_error(clusters)
    samples, values = len(clusters), sum(map(len, clusters))
    squares = math.fsum((value - centre) ** 2 for cluster in clusters for value in cluster)
    # No spread, no design effect: then only whole samples count.
    trials = squares / values / error**2 if error else samples
    return min(max(trials, samples), values)


def proportion_interval(clusters: Clusters) -> Interval | None:
    """Return the Wilson interval of the mean of 0/1 values; None without values.

    The number of trials is the effective one.
    """
    proportion = mean(clusters)
    return None if proportion is None else wilson(proportion, effective_trials(clusters))


def pass_at_k(n: int, correct: int, k: int) -> float:
    """Return the unbiased chance that one of `k` epochs or more is correct, from `n` >= k.

    1 - C(n-c, k) / C(n, k): Chen et al., "Evaluating Large Language Models Trained on Code" (2021).
    """
    return 1 - math.comb(n - correct, k) / math.comb(n, k)


def pass_all_k(n: int, correct: int, k: int) -> float:
    """Return the unbiased chance that all of `k` epochs are correct (pass^k), from `n` >= k.

    C(c, k) / C(n, k): Yao et al., "tau-bench" (2024).
    """
    return math.comb(correct, k) / math.comb(n, k)


@cache
def majority_at_k(groups: tuple[tuple[int, int], ...], abstained: int, k: int) -> float:
    """Return the unbiased chance that the most frequent of `k` answers is correct (maj@k).

    It is the mean over all ways to draw k epochs without order. Of groups with equally many votes
    each counts its equal share, which is what breaking a tie by who came first means on average.
    Without any vote there is no correct answer.

    Args:
        groups: of each group of equal answers the number of epochs, and of correct ones among them.
        abstained: the number of epochs without an answer.
        k: how many epochs are drawn, at most as many as there are.
    """
    epochs = abstained + sum(votes for votes, _ in groups)
    largest = min(k, max((votes for votes, _ in groups), default=0))
    credit = math.fsum(_credit(groups, abstained, k, most) for most in range(1, largest + 1))
    return credit / math.comb(epochs, k)


def _credit(groups: Iterable[tuple[int, int]], abstained: int, k: int, most: int) -> float:
    """Return the correct share of the largest groups, summed over the draws where they have `most`.

    Counted group by group. A state is the number of epochs drawn so far and of groups with `most`
    votes; of each are kept the number of ways to it, and the sum over them of these groups' correct
    shares.
    """
    states = {(drawn, 0): (math.comb(abstained, drawn), 0.0) for drawn in range(abstained + 1)}
    for votes, correct in groups:
        grown: dict[tuple[int, int], tuple[int, float]] = defaultdict(lambda: (0, 0.0))
        for (drawn, largest), (ways, shares) in states.items():
            for more in range(min(votes, most, k - drawn) + 1):
                choices, leads = math.comb(votes, more), more == most
                gained = shares + ways * correct / votes if leads else shares
                state = (drawn + more, largest + leads)
                before = grown[state]
                grown[state] = (before[0] + ways * choices, before[1] + gained * choices)
        states = grown
    found = ((largest, shares) for (drawn, largest), (_, shares) in states.items() if drawn == k)
    return math.fsum(shares / largest for largest, shares in found if largest)
