"""The order of sample ids in the report."""

from __future__ import annotations

import re
from typing import Final

_MOST_DIGITS: Final = 20
"""Number of digits from which on digits are no number."""

_NUMBER: Final = re.compile(f"([0-9]{{1,{_MOST_DIGITS - 1}}})")
_LOOKED_AT: Final = 200
"""Characters of an id that its order follows."""


def natural_order(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key by which numbers in ids have the order of numbers: ``H2`` before ``H10``."""
    parts = _NUMBER.split(name[:_LOOKED_AT])
    return tuple(
        (0, int(part), "") if number % 2 else (1, 0, part)
        for number, part in enumerate(parts)
        if part
    )
