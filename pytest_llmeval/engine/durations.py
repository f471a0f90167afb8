"""Spans of time as users write them: ``90``, ``30m``, ``12h``, ``7d``."""

from __future__ import annotations

import math
from typing import Final

UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
"""Seconds of each unit; a number without a unit counts seconds."""


def seconds_of(text: str) -> float:
    """Return the seconds of a span such as ``90``, ``30m``, ``12h`` or ``7d``.

    Raises:
        ValueError: the text is no span above 0.
    """
    number, unit = (text[:-1], text[-1]) if text[-1:] in UNITS else (text, "s")
    seconds = float(number) * UNITS[unit]
    if not 0 < seconds < math.inf:
        msg = f"{text!r} is no span of time"
        raise ValueError(msg)
    return seconds
