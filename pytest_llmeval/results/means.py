"""Rows to means with intervals: of scores, and of properties of answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import fsum

from pytest_llmeval.records import Row
from pytest_llmeval.results.bounded_mean import BoundedMean
from pytest_llmeval.results.figures import Mean
from pytest_llmeval.results.rows import last_scores
from pytest_llmeval.results.statistics import (
    Clusters,
    clustered_error,
    mean,
    proportion_interval,
)


def mean_of(name: str, values: Sequence[tuple[Row, float]], scale: float = 1.0) -> Mean:
    """Return the mean of one value a row, in 0..`scale`.

    Its interval is a score interval: Wilson's when all values are 0 or `scale`, otherwise that of
    `BoundedMean`.
    """
    by_sample: dict[str, list[float]] = defaultdict(list)
    for row, value in values:
        by_sample[row.sample].append(value)
    clusters = list(by_sample.values())
    low, high = interval_of(clusters, scale)
    return Mean(
        name=name,
        value=mean(clusters),
        n=len(values),
        scale=scale,
        standard_error=clustered_error(clusters),
        low=low,
        high=high,
    )


def interval_of(clusters: Clusters, scale: float) -> tuple[float, float] | tuple[None, None]:
    """Return the interval of the mean of values in 0..`scale`, as `mean_of` does."""
    if not clusters:
        return None, None
    if all(value in {0.0, scale} for cluster in clusters for value in cluster):
        shares = [[value / scale for value in cluster] for cluster in clusters]
        found = proportion_interval(shares)
        return (None, None) if found is None else (found.low * scale, found.high * scale)
    size = sum(map(len, clusters)) / len(clusters)
    own = BoundedMean.of(
        [fsum(cluster) / len(cluster) for cluster in clusters],
        weights=[len(cluster) / size for cluster in clusters],
        lowest=0.0,
        highest=scale,
    ).interval()
    return own.low, own.high


def accuracy_of(scored: Sequence[Row]) -> Mean:
    """Return the share of correct ones among scored rows."""
    return mean_of("accuracy", [(row, float(row.outcome == "correct")) for row in scored])


def score_means(scored: Iterable[Row]) -> tuple[Mean, ...]:
    """Return the mean of each score, in the order in which they first appear."""
    values: dict[tuple[str, float], list[tuple[Row, float]]] = {}
    for row in scored:
        for score in last_scores(row).values():
            if score.value is not None:
                values.setdefault((score.name, score.scale), []).append((row, score.value))
    return tuple(mean_of(name, found, scale) for (name, scale), found in values.items())


def repeating_scores(scored: Sequence[Row]) -> tuple[str, ...]:
    """Return names of scores that only repeat the outcomes, in all rows.

    Such a score decides, and is exactly 1 for correct and 0 for incorrect rows.
    """
    names = dict.fromkeys(score.name for row in scored for score in row.scores)
    return tuple(name for name in names if all(_repeats(row, name) for row in scored))


def _repeats(row: Row, name: str) -> bool:
    score = last_scores(row).get(name)
    return (
        score is not None
        and score.decides
        and score.scale == 1
        and score.value == float(row.outcome == "correct")
    )


def share_means(scored: Sequence[Row], names: Iterable[str]) -> tuple[Mean, ...]:
    """Return the share of the answers that have a property, for each name of a boolean detail.

    Answers whose details do not hold the property are not counted.
    """
    shares = []
    for name in dict.fromkeys(names):
        found = [
            (row, float(held)) for row in scored if (held := property_of(row, name)) is not None
        ]
        if found:
            shares.append(mean_of(name, found))
    return tuple(shares)


def property_of(row: Row, name: str) -> bool | None:
    """Return a boolean detail of the completion or of a score; None where there is none."""
    for details in (row.details, *(score.details for score in row.scores)):
        value = details.get(name)
        if isinstance(value, bool):
            return value
    return None
