"""How many samples a graded score spares beside accuracy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pytest_llmeval.results.summary import Efficiency, Mean

GRADED: Final = ("EED", "EED published")
"""Scores that tell how near a wrong answer comes, for which the PHYBench paper claims the fewer
samples."""


MIN_ROWS: Final = 20
"""Rows from which on the figure is told: a ratio of two spreads that a few rows show says
little."""


def efficiencies(accuracy: Mean, scores: Sequence[Mean]) -> Iterator[Efficiency]:
    """Yield the sample efficiency of each graded score, where it is defined: both means come from the same rows."""
    for score in scores:
        if score.name in GRADED and score.n == accuracy.n >= MIN_ROWS:
            ratio = sample_ratio(accuracy, score)
            if ratio is not None:
                yield Efficiency(name=score.name, ratio=ratio, n=score.n)


def sample_ratio(coarse: Mean, fine: Mean) -> float | None:
    """Return how many times the samples of `fine` `coarse` needs for the same relative error of its mean.

    A mean's error falls with the square root of the samples, so this is the ratio of (standard
    error / mean)^2 over the same rows; with one epoch that is the ratio of (standard deviation /
    mean)^2. None when a mean is 0 or unknown, or when one of them shows no spread, which tells
    nothing of how many samples it would take.
    """
    variances = _relative_variance(coarse), _relative_variance(fine)
    return variances[0] / variances[1] if variances[0] and variances[1] else None


def _relative_variance(mean: Mean) -> float | None:
    return (
        (mean.standard_error / mean.value) ** 2
        if mean.standard_error is not None and mean.value
        else None
    )
