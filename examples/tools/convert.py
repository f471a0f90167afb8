"""The tool of the task's own: its signature is its schema."""

from __future__ import annotations

from typing import Literal

GRAMS = {"g": 1.0, "kg": 1000.0, "lb": 453.59237}


def convert(amount: float, unit: Literal["g", "kg", "lb"], to: Literal["g", "kg", "lb"]) -> float:
    """Convert a weight to another unit."""
    return round(amount * GRAMS[unit] / GRAMS[to], 3)
