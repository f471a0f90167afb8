"""Numbers as text; they are rounded here and nowhere earlier."""

from __future__ import annotations

import math

NONE = "–"
"""Stands for a number that is not defined; it must not be a 0."""

_HALF_DIGIT = 0.000_5
"""Half of the last digit of a percentage."""

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def percent(value: float | None) -> str:
    """Return a share in 0..1 as per cent; only all is 100 and only none is 0."""
    if value is None:
        return NONE
    if 1 - _HALF_DIGIT <= value < 1:
        return ">99.9 %"
    if 0 < value < _HALF_DIGIT:
        return "<0.1 %"
    return f"{100 * value:.1f} %"


def score(value: float | None, scale: float) -> str:
    """Return a score in 0..`scale`: one decimal on 0..100, two on 0..5, three on 0..1."""
    return NONE if value is None else f"{value:.{_decimals(scale)}f}"


def interval(low: float | None, high: float | None, scale: float) -> str:
    """Return the two ends of an interval in the form of `score`."""
    if low is None or high is None:
        return NONE
    return f"{score(low, scale)}–{score(high, scale)}"


def count(value: int) -> str:
    """Return a whole number: thousands apart, from ten million on in millions."""
    ten_million = 10_000_000
    return f"{value:,}" if value < ten_million else f"{value / 1_000_000:,.1f} M"


def money(value: float | None, *, at_least: bool = False) -> str:
    """Return US dollars: less than a cent with two digits, from a million on in millions.

    `at_least`: a part is not known.
    """
    if value is None:
        return NONE
    cent, million = 0.01, 1_000_000
    places = 2 if value >= cent or value == 0 else 1 - math.floor(math.log10(value))
    text = f"${value:,.{places}f}" if value < million else f"${value / million:,.1f} M"
    return f"≥ {text}" if at_least else text


def seconds(value: float | None) -> str:
    """Return seconds: a decimal below a hundred, whole ones above."""
    if value is None:
        return NONE
    whole_from = 100
    return f"{value:.1f}" if value < whole_from else f"{value:,.0f}"


def age(value: float) -> str:
    """Return seconds in the largest unit that they fill: ``3 d``."""
    for size, unit in _UNITS:
        if value >= size:
            return f"{value / size:.0f} {unit}"
    return "0 s"


def _decimals(scale: float) -> int:
    if scale >= 100:  # noqa: PLR2004 - per cent and its like
        return 1
    return 2 if scale > 1 else 3
