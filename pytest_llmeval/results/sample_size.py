"""How many samples a comparison of two runs takes, from how many samples flip by chance alone."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist, fmean

from pytest_llmeval.records import Row
from pytest_llmeval.results.bounded_mean import BoundedMean, critical, samples_for
from pytest_llmeval.results.paired import continuity, fewest_flips
from pytest_llmeval.results.rows import SCORED, parted
from pytest_llmeval.results.statistics import CONFIDENCE

MOST_FLIPS = 0.5
"""Share of samples that flip if every answer is the toss of a coin."""

_FINEST = 1e-4
"""Step of the smallest allowed drop that is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSize:
    """What it takes to hold runs of so many `epochs` against a baseline of as many.

    Attributes:
        epochs: repetitions of each sample, in either run.
        to_pass: samples with which a run as good as its baseline passes ``max_drop`` with the
            wanted chance.
        to_show: samples with which a true drop of that size is found significant.
        smallest: smallest ``max_drop`` that such a run passes with the samples there are; None
            where there are none, or none is.
    """

    epochs: int
    to_pass: int
    to_show: int
    smallest: float | None


def sample_sizes(
    flips: float, drop: float, power: float, *, epochs: Iterable[int], samples: int = 0
) -> tuple[SampleSize, ...]:
    """Return the sample sizes for each number of epochs.

    Args:
        flips: share of samples whose outcome differs between two epochs of one model, 0..0.5.
        drop: the ``max_drop`` of accuracy, above 0 and below 1.
        power: the wanted chance, above 0.5 and below 1.
        epochs: numbers of epochs.
        samples: how many samples there are.
    """
    return tuple(
        SampleSize(
            epochs=count,
            to_pass=samples_to_pass(flips, drop, power, epochs=count),
            to_show=samples_to_show(flips, drop, power, epochs=count),
            smallest=_smallest(flips, power, epochs=count, samples=samples),
        )
        for count in epochs
    )


def samples_to_pass(flips: float, drop: float, power: float, *, epochs: int = 1) -> int:
    """Return with how many samples an unchanged model passes a ``max_drop`` with chance `power`."""
    expected = _expected(flips, epochs)
    wanted = _samples(expected, -drop, drop, power, epochs=epochs)
    least = expected.samples_to_tell(-drop) or 1
    return max(wanted, least)


def samples_to_show(flips: float, drop: float, power: float, *, epochs: int = 1) -> int:
    """Return with how many samples a true drop is significant with chance `power`.

    As if a share `drop` of the samples were lost for good.
    """
    expected = _expected(flips, epochs, lost=drop)
    return _samples(expected, 0.0, drop, power, epochs=epochs)


def flip_rate(rows: Iterable[Row]) -> float | None:
    """Return the share of samples that flip from one epoch to another; None with one epoch.

    Of a sample with c of k epochs correct it is the chance that two of them differ,
    2 c (k - c) / (k (k - 1)).
    """
    shares = []
    for part in _by_sample(rows).values():
        k, correct = len(part), sum(part)
        if k > 1:
            shares.append(2 * correct * (k - correct) / (k * (k - 1)))
    return fmean(shares) if shares else None


def flip_rate_between(a: Iterable[Row], b: Iterable[Row]) -> float | None:
    """Return the share of samples that differ between two runs; None if they have none in common.

    What differs because the models do is counted too.
    """
    of_a, of_b = _by_sample(a), _by_sample(b)
    pairs = [(fmean(of_a[sample]), fmean(of_b[sample])) for sample in of_a if sample in of_b]
    return fmean(p * (1 - q) + q * (1 - p) for p, q in pairs) if pairs else None


def _by_sample(rows: Iterable[Row]) -> dict[str, list[bool]]:
    scored = [row for row in rows if row.outcome in SCORED]
    parts = parted(scored, lambda row: row.sample)
    return {sample: [row.outcome == "correct" for row in part] for sample, part in parts.items()}


def _expected(flips: float, epochs: int, lost: float = 0.0) -> BoundedMean:
    """Return the differences to be expected, with their shares of all samples as counts.

    As if a share of the samples were tosses of a coin in both runs and the others certain; besides
    a share `lost` is right in all epochs of the one and in none of the other.
    """
    tosses = (1 - lost) * flips / MOST_FLIPS
    ways = [math.comb(2 * epochs, k) / 4**epochs for k in range(2 * epochs + 1)]
    counts = {(k - epochs) / epochs: tosses * chance for k, chance in enumerate(ways)}
    counts[0.0] += 1 - lost - tosses
    counts[-1.0] += lost
    return BoundedMean.of_differences(counts)


def _samples(expected: BoundedMean, limit: float, off: float, power: float, *, epochs: int) -> int:
    """Return with how many samples `limit` lies outside of the interval with chance `power`."""
    pairs = list(zip(expected.values, expected.counts, strict=True))
    variance = math.fsum(count * (value - expected.mean) ** 2 for value, count in pairs)
    spread = critical(CONFIDENCE) * math.sqrt(expected.variance(limit))
    spread += NormalDist().inv_cdf(power) * math.sqrt(variance)
    flipped = math.fsum(count * abs(value) for value, count in pairs)
    return max(samples_for(off, spread, continuity(flipped, 1.0, epochs)), _fewest())


def _fewest() -> int:
    """Return the samples below which nothing is ever significant."""
    return next(n for n in range(1, 100) if fewest_flips(n) is not None)


def _smallest(flips: float, power: float, *, epochs: int, samples: int) -> float | None:
    """Return the smallest drop for which the samples are enough, rounded up."""
    low, high = 0.0, 1.0 - _FINEST
    if samples_to_pass(flips, high, power, epochs=epochs) > samples:
        return None
    while high - low > _FINEST:
        middle = (low + high) / 2
        enough = samples_to_pass(flips, middle, power, epochs=epochs) <= samples
        low, high = (low, middle) if enough else (middle, high)
    return math.ceil(high * 1_000) / 1_000
