"""Numbers and vectors within a tolerance of each other, compared exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from math import isfinite
from typing import TypeAlias

Vector: TypeAlias = tuple[Decimal, ...]

EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Arithmetic without rounding, independent of the caller's context. Operands lie in the range of
a double, so results stay short."""


class Tolerance:
    """Equality of numbers: exact, or with a difference below `size`."""

    def __init__(self, size: float) -> None:
        """Convert the tolerance by its shortest decimal text, so that 0.01 is exactly 0.01.

        Raises:
            ValueError: the size is negative, infinite or NaN.
        """
        if not (isfinite(size) and size >= 0):
            message = f"tolerance must be a finite number from 0 on, not {size!r}"
            raise ValueError(message)
        self.size = Decimal(str(size))
        self._least = self.size.copy_negate()

    def near(self, left: Decimal, right: Decimal) -> bool:
        """Return whether two numbers are equal within the tolerance."""
        return left == right or self._least < EXACT.subtract(left, right) < self.size

    def reaches(self, number: Decimal, low: Decimal, high: Decimal) -> bool:
        """Return whether a number from `low` to `high` may equal `number`."""
        return (number >= low or EXACT.subtract(low, number) < self.size) and (
            number <= high or EXACT.subtract(number, high) < self.size
        )

    def all_near(self, left: Vector, right: Vector) -> bool:
        """Return whether two vectors are equally long and equal in each coordinate."""
        return len(left) == len(right) and all(map(self.near, left, right))

    def unmatched(self, numbers: Sequence[Decimal], others: Sequence[Decimal]) -> Iterator[Decimal]:
        """Yield the numbers without an equal among the others; both sequences are sorted."""
        index, end, size, subtract = 0, len(others), self.size, EXACT.subtract
        for number in numbers:
            while index < end and others[index] < number:
                index += 1
            if index < end and (others[index] == number or subtract(others[index], number) < size):
                continue
            if index and subtract(number, others[index - 1]) < size:
                continue
            yield number
