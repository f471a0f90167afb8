"""The order of sample ids in the report."""

from __future__ import annotations

from typing import Final

_MOST_DIGITS: Final = 20
"""Number of digits from which on an id is no number."""


def natural_order(name: str) -> tuple[int, int, str]:
    """Return a key by which ids that are numbers come first, in the order of numbers."""
    number = name.isascii() and name.isdigit() and len(name) < _MOST_DIGITS
    return (0, int(name), "") if number else (1, 0, name)
