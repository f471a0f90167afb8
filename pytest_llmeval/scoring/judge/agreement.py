"""Agreement of raters beyond chance (kappa): 1 complete, 0 as by chance, below 0 worse than chance.

A kappa is None where it is undefined: without cases, or when all raters gave one and the same
category throughout, so that the agreement expected by chance is complete.

Sources: J. Cohen, "A coefficient of agreement for nominal scales" (1960); J. L. Fleiss, "Measuring
nominal scale agreement among many raters" (1971).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

FEWEST_RATERS: Final = 2
"""Raters needed for an agreement."""


def cohen_kappa(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    """Return Cohen's kappa of two raters' yes-or-no decisions, one pair for each case."""
    if not pairs:
        return None
    observed = sum(first is second for first, second in pairs) / len(pairs)
    return beyond_chance(observed, chance_agreement(pairs))


def chance_agreement(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Return the agreement (0..1) expected by chance, given each rater's share of yes.

    Args:
        pairs: the decisions of two raters, at least one pair.
    """
    n = len(pairs)
    first_yes = sum(first for first, _ in pairs) / n
    second_yes = sum(second for _, second in pairs) / n
    return first_yes * second_yes + (1 - first_yes) * (1 - second_yes)


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> float | None:
    """Return Fleiss' kappa of several raters.

    Args:
        counts: one row for each case, with the number of raters for each category.

    Raises:
        ValueError: the cases differ in their number of raters, or have fewer than two.
    """
    if not counts:
        return None
    raters = sum(counts[0])
    if raters < FEWEST_RATERS or any(sum(row) != raters for row in counts):
        msg = (
            "fleiss_kappa: every case needs the same number of raters, at least "
            f"{FEWEST_RATERS}; the first has {raters}"
        )
        raise ValueError(msg)
    agreeing = sum(sum(k * (k - 1) for k in row) for row in counts)
    observed = agreeing / (len(counts) * raters * (raters - 1))
    shares = [sum(column) / (len(counts) * raters) for column in zip(*counts, strict=True)]
    return beyond_chance(observed, sum(share**2 for share in shares))


def beyond_chance(observed: float, expected: float) -> float | None:
    """Return the kappa of an observed agreement and the one expected by chance, both 0..1."""
    return None if expected >= 1 else (observed - expected) / (1 - expected)
