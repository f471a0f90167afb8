"""How far raters agree beyond chance: 1 complete, 0 as chance would have it, below 0 worse.

A kappa is None where it has no value: no cases, or only one verdict ever given, so that chance
alone would agree completely. Sources: J. Cohen, "A coefficient of agreement for nominal scales"
(1960); J. L. Fleiss, "Measuring nominal scale agreement among many raters" (1971).
"""

from __future__ import annotations

from collections.abc import Sequence


def cohen_kappa(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    """Return the agreement beyond chance of two raters' yes-or-no decisions on the same cases."""
    if not pairs:
        return None
    observed = sum(first is second for first, second in pairs) / len(pairs)
    return beyond_chance(observed, chance_agreement(pairs))


def chance_agreement(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Return how often two raters would agree by chance, each keeping its own share of yes; at least one pair."""
    n = len(pairs)
    first_yes = sum(first for first, _ in pairs) / n
    second_yes = sum(second for _, second in pairs) / n
    return first_yes * second_yes + (1 - first_yes) * (1 - second_yes)


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> float | None:
    """Return the agreement beyond chance of several raters.

    `counts` has a row for each case and in it the number of raters for each category; every case
    must have the same number of raters, at least two (ValueError otherwise).
    """
    if not counts:
        return None
    raters = sum(counts[0])
    if raters < 2 or any(sum(row) != raters for row in counts):  # noqa: PLR2004 - one rater cannot agree
        msg = f"fleiss_kappa: every case needs the same number of raters, at least 2; the first has {raters}"
        raise ValueError(msg)
    observed = sum(sum(k * (k - 1) for k in row) for row in counts) / (
        len(counts) * raters * (raters - 1)
    )
    shares = [sum(column) / (len(counts) * raters) for column in zip(*counts, strict=True)]
    return beyond_chance(observed, sum(share**2 for share in shares))


def beyond_chance(observed: float, expected: float) -> float | None:
    """Return the kappa of an observed agreement where chance alone would give `expected`; None when that is all."""
    return None if expected >= 1 else (observed - expected) / (1 - expected)
