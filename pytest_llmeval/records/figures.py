"""Figures that come with replies from outside, taken over only if a reply can have them.

A server or a function may report anything: a text, NaN, -5, ``10**400``. Such a figure counts as
not reported, so that sums, budgets and tables hold finite numbers.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from pytest_llmeval.records.record import Json
from pytest_llmeval.records.request import Reply, Usage

MOST_TOKENS: Final = 10**9
"""Tokens, or requests, of one reply, at most; a hundred times the largest context window."""

MOST_DOLLARS: Final = 10.0**6
"""Cost of one reply, at most."""

MOST_SECONDS: Final = 10.0**10
"""Latency, or date since 1970, at most: the year 2286."""


def token_count(value: object) -> int:
    """Return a whole number in 0..MOST_TOKENS, also of a float such as 12.0; else 0."""
    number = _within(value, MOST_TOKENS)
    return int(number) if number is not None and number.is_integer() else 0


def possible_seconds(value: object) -> float:
    """Return a latency or a date in 0..MOST_SECONDS; else 0."""
    return _within(value, MOST_SECONDS) or 0.0


def with_possible_figures(reply: Reply | dict[str, Json]) -> dict[str, Any]:
    """Return the fields of a reply, or of its JSON form, with the figures that it can have."""
    given = _fields(reply)
    usage = _fields(given.get("usage"))
    counts = {name: token_count(usage.get(name)) for name in _COUNTS}
    return {
        **given,
        "latency": possible_seconds(given.get("latency")),
        "created": possible_seconds(given.get("created")),
        "usage": {**counts, "cost": _within(usage.get("cost"), MOST_DOLLARS)},
    }


_COUNTS: Final = tuple(name for name in Usage.__struct_fields__ if name != "cost")


def _fields(value: object) -> dict[str, Any]:
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.asdict(value)
    return value if isinstance(value, dict) else {}


def _within(value: object, most: float) -> float | None:
    """Return a number in 0..most; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # A comparison with NaN is false, and one with a number of any length does not overflow.
    return float(value) if 0 <= value <= most else None
