"""How many samples a graded score spares compared with accuracy."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from pytest_llmeval.results.figures import Efficiency, Mean

MIN_ROWS: Final = 20
"""Rows from which on the figure is given: a ratio of two spreads seen in fewer rows says little."""


def efficiencies(
    accuracy: Mean, scores: Sequence[Mean], graded: Collection[str]
) -> Iterator[Efficiency]:
    """Yield the sample efficiency of the scores whose names are in `graded`, where it is defined.

    Both means must come from the same rows.
    """
    for score in scores:
        if score.name in graded and score.n == accuracy.n >= MIN_ROWS:
            ratio = sample_ratio(accuracy, score)
            if ratio is not None:
                yield Efficiency(name=score.name, ratio=ratio, n=score.n)


def sample_ratio(coarse: Mean, fine: Mean) -> float | None:
    """Return how many times the samples of `fine` `coarse` needs for the same relative error.

    A mean's error falls with the square root of the samples, so this is the ratio of (standard
    error / mean)^2 over the same rows; with one epoch that is the ratio of (standard deviation /
    mean)^2. None when a mean is 0 or unknown, or when one of them has no spread: then no number of
    samples follows from it.
    """
    variances = _relative_variance(coarse), _relative_variance(fine)
    return variances[0] / variances[1] if variances[0] and variances[1] else None


def _relative_variance(mean: Mean) -> float | None:
    if mean.standard_error is None or not mean.value:
        return None
    return (mean.standard_error / mean.value) ** 2
