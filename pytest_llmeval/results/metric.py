"""What a metric is, and the metrics that come with the package.

A metric is a function of the rows of one task under one model that were scored (correct or
incorrect), one row for each sample and epoch. Its further parameters are its options in the task
file: ``{pass_at: [1, 10]}`` or ``{pass_at: {k: [1, 10]}}``. It returns

- a number, or None where it is undefined: standard error and 95 % interval come from resampling
  whole samples with all their rows (see `results.resampled`);
- or one or several `MetricValue` with what it knows of their uncertainty, which are kept as they
  are.

A parameter `same` is no option: it is given the equality of answers that the task's scorer decides
(see `scoring.votes`).

    def mean_length(rows: Sequence[Row]) -> float | None:
        return fmean(len(row.answer or "") for row in rows) if rows else None
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, TypeAlias

from annotated_types import Ge

from pytest_llmeval.records import Row
from pytest_llmeval.results.classes import classified
from pytest_llmeval.results.figures import Mean, MetricValue
from pytest_llmeval.results.means import accuracy_of, interval_of, mean_of
from pytest_llmeval.results.rows import last_scores, parted
from pytest_llmeval.results.statistics import clustered_error, majority_at_k, pass_at_k
from pytest_llmeval.results.statistics import mean as mean_of_clusters
from pytest_llmeval.results.task_info import metric_name
from pytest_llmeval.results.votes import vote_counts
from pytest_llmeval.scoring.votes import SameAnswer

MetricResult: TypeAlias = float | MetricValue | Sequence[MetricValue] | None
"""What a metric returns."""

MetricFunction: TypeAlias = Callable[..., MetricResult]
"""A metric: rows first, then options."""

Epochs: TypeAlias = Annotated[int, Ge(1)]
"""A number of epochs."""


def accuracy(rows: Sequence[Row]) -> MetricValue:
    """Return correct of scored, 0..1."""
    return as_value(accuracy_of(rows), share=True)


def mean(rows: Sequence[Row], score: str) -> MetricValue:
    """Return the mean of a score over the rows that have it.

    Args:
        rows: the scored rows.
        score: its name; case, blanks, hyphens and underscores make no difference.
    """
    wanted = metric_name(score)
    found = [
        (row, one)
        for row in rows
        for one in last_scores(row).values()
        if metric_name(one.name) == wanted and one.value is not None
    ]
    if not found:
        return MetricValue(name=score, value=None, n=0)
    last = found[-1][1]
    values = [(row, one.value) for row, one in found if one.value is not None]
    return as_value(mean_of(last.name, values, last.scale))


def pass_at(rows: Sequence[Row], k: list[Epochs] | Epochs = 1) -> tuple[MetricValue, ...]:
    """Return pass@k for each `k`: the chance that at least one of k epochs is correct, 0..1.

    The unbiased estimate 1 - C(n-c, k) / C(n, k) of Chen et al. (2021), for c correct of n scored
    epochs, averaged over the samples with k of them or more; the others are left out.
    """
    wanted = [k] if isinstance(k, int) else k
    samples = [(len(part), _correct(part)) for part in _by_sample(rows)]
    values = []
    for one in wanted:
        chances = [pass_at_k(n, correct, one) for n, correct in samples if n >= one]
        values.append(_over_samples("pass", one, chances, len(samples) - len(chances)))
    return tuple(values)


TEXTLESS: Final[frozenset[MetricFunction]] = frozenset({accuracy, mean, pass_at})
"""The metrics that read no texts of rows, such as answers."""


def maj_at(
    rows: Sequence[Row], k: list[Epochs] | Epochs, *, same: SameAnswer
) -> tuple[MetricValue, ...]:
    """Return maj@k for each `k`: the chance that the most frequent of k answers is correct, 0..1.

    Votes are counted by `same`: formulas of equal value are one answer, however they are written.
    An epoch without an answer gives no vote. Of answers with equally many votes each counts its
    equal share. The unbiased estimate over all draws of k epochs, averaged over the samples with k
    scored epochs or more; the others are left out. maj@1 is the mean accuracy of the samples.
    """
    wanted = [k] if isinstance(k, int) else k
    samples = [vote_counts(part, same) for part in _by_sample(rows)]
    values = []
    for one in wanted:
        enough = [votes for votes in samples if votes.epochs >= one]
        chances = [majority_at_k(votes.groups, votes.abstained, one) for votes in enough]
        values.append(_over_samples("maj", one, chances, len(samples) - len(chances)))
    return tuple(values)


def micro(rows: Sequence[Row], score: str = "checks") -> float | None:
    """Return the share of all checks of all samples that were passed, 0..1; None without any.

    A sample with many checks weighs more than one with few. (The mean of the score is the macro
    average, in which all samples weigh the same.)

    Args:
        rows: the scored rows.
        score: name of a score with the details ``passed`` and ``checks``.
    """
    wanted = metric_name(score)
    found = [
        one.details
        for row in rows
        for one in last_scores(row).values()
        if metric_name(one.name) == wanted
    ]
    passed, checks = (
        sum(count for details in found if isinstance(count := details.get(key), int))
        for key in ("passed", "checks")
    )
    return passed / checks if checks else None


def f1_macro(rows: Sequence[Row]) -> float | None:
    """Return the mean F1 over the classes, 0..1; None without rows.

    The classes are the targets that occur; the predicted class is the answer, blanks at both ends
    aside. An answer that is no class counts against the recall of its target's class alone. (So in
    scikit-learn: ``f1_score(y_true, y_pred, labels=unique(y_true), average="macro")``.)
    """
    pairs = classified(rows)
    if not pairs:
        return None
    true = Counter(target for target, _ in pairs)
    predicted = Counter(answer for _, answer in pairs)
    hits = Counter(target for target, answer in pairs if target == answer)
    scores = [2 * hits[label] / (true[label] + predicted[label]) for label in true]
    return math.fsum(scores) / len(scores)


def mcc(rows: Sequence[Row]) -> float | None:
    """Return Matthews' correlation coefficient of targets and answers, -1..1; None without rows.

    For several classes it is Gorodkin's R_K (2004). Classes as in `f1_macro`; all answers that are
    no class are one further class. 0 if all targets, or all answers, are one class.
    """
    pairs = classified(rows)
    if not pairs:
        return None
    true = Counter(target for target, _ in pairs)
    predicted = Counter(answer for _, answer in pairs)
    n, hits = len(pairs), sum(target == answer for target, answer in pairs)
    together = sum(true[label] * predicted[label] for label in true)
    spread = (n * n - sum(c * c for c in true.values())) * (
        n * n - sum(c * c for c in predicted.values())
    )
    return (hits * n - together) / math.sqrt(spread) if spread else 0.0


def as_value(found: Mean, *, share: bool = False) -> MetricValue:
    """Return a mean as a metric's value."""
    return MetricValue(**_fields(found), share=share)


def _fields(found: Mean) -> dict[str, Any]:
    return {name: getattr(found, name) for name in Mean.__struct_fields__}


def _over_samples(name: str, k: int, values: Sequence[float], left_out: int) -> MetricValue:
    """Return the mean of one value in 0..1 a sample, for samples with `k` epochs or more."""
    too_few = f"no sample has {k} scored epochs (--llmeval-epochs {k})" if left_out else ""
    clusters = [[value] for value in values]
    low, high = interval_of(clusters, 1.0)
    return MetricValue(
        name=f"{name}@{k}",
        value=mean_of_clusters(clusters),
        n=len(values),
        standard_error=clustered_error(clusters),
        low=low,
        high=high,
        left_out=left_out,
        share=True,
        problem="" if values else too_few,
    )


def _by_sample(rows: Sequence[Row]) -> list[list[Row]]:
    return list(parted(rows, lambda row: row.sample).values())


def _correct(rows: Sequence[Row]) -> int:
    return sum(row.outcome == "correct" for row in rows)
