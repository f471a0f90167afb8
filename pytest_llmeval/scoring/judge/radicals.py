"""Exact arithmetic on sums of fractions, square roots and powers of pi."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

from pytest_llmeval.scoring.numerals import UnreadableError

MOST_TERMS: Final = 16
LARGEST: Final = 10**40
"""Largest numerator and denominator of a term."""

LARGEST_RADICAND: Final = 10**7
"""Its squares are found by trial, in some 3,000 divisions."""

_PRECISE = Context(prec=60)
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")

Irrational: TypeAlias = tuple[int, int]
"""The square root of a square-free integer, and the power of pi: (3, 1) is sqrt(3) pi."""


@dataclass(frozen=True, slots=True)
class RadicalSum:
    """A sum of rational multiples of sqrt(n) pi^k.

    Roots of different square-free n are independent over the rationals, and so are powers of pi
    over these roots. So two sums are equal exactly when their terms are.

    Attributes:
        terms: the factor of each irrational part; none is zero.
    """

    terms: Mapping[Irrational, Fraction]

    @classmethod
    def rational(cls, value: Fraction) -> RadicalSum:
        """Return a rational number."""
        return _checked({(1, 0): value})

    @classmethod
    def pi(cls) -> RadicalSum:
        """Return pi."""
        return cls({(1, 1): Fraction(1)})

    @property
    def irrational(self) -> bool:
        """Whether it holds a root or a power of pi."""
        return any(part != (1, 0) for part in self.terms)

    def __add__(self, other: RadicalSum) -> RadicalSum:
        """Return the sum."""
        terms = dict(self.terms)
        for part, factor in other.terms.items():
            terms[part] = terms.get(part, Fraction(0)) + factor
        return _checked(terms)

    def __neg__(self) -> RadicalSum:
        """Return the negative."""
        return RadicalSum({part: -factor for part, factor in self.terms.items()})

    def __mul__(self, other: RadicalSum) -> RadicalSum:
        """Return the product."""
        terms: dict[Irrational, Fraction] = {}
        for (root, power), factor in self.terms.items():
            for (other_root, other_power), other_factor in other.terms.items():
                outside, inside = _without_squares(root * other_root)
                part = (inside, power + other_power)
                terms[part] = terms.get(part, Fraction(0)) + factor * other_factor * outside
        return _checked(terms)

    def inverse(self) -> RadicalSum:
        """Return 1 divided by this number, which must have one term.

        Raises:
            UnreadableError: it is zero, or a sum.
        """
        if len(self.terms) != 1:
            msg = "a division by zero or by a sum"
            raise UnreadableError(msg)
        (((root, power), factor),) = self.terms.items()
        return _checked({(root, -power): 1 / (factor * root)})

    def root(self) -> RadicalSum:
        """Return the square root of this number, which must be rational.

        Raises:
            UnreadableError: it is negative or irrational.
        """
        value = self.terms.get((1, 0), Fraction(0))
        if self.irrational or value < 0:
            msg = "a root of a negative or irrational number"
            raise UnreadableError(msg)
        outside, inside = _without_squares(value.numerator * value.denominator)
        return _checked({(inside, 0): Fraction(outside, value.denominator)})

    def approximation(self) -> Fraction:
        """Return the value to some fifty digits."""
        return sum((factor * _size(*part) for part, factor in self.terms.items()), Fraction(0))


def _checked(terms: dict[Irrational, Fraction]) -> RadicalSum:
    """Return the sum of the terms that are not zero, unless it is large."""
    kept = {part: factor for part, factor in terms.items() if factor}
    sizes = [max(abs(one.numerator), one.denominator) for one in kept.values()]
    if len(kept) > MOST_TERMS or max(sizes, default=0) > LARGEST:
        msg = "a number of very many digits or terms"
        raise UnreadableError(msg)
    return RadicalSum(kept)


@lru_cache(maxsize=1024)
def _size(root: int, power: int) -> Fraction:
    """Return sqrt(root) pi^power to some fifty digits."""
    return Fraction(_PRECISE.multiply(_PRECISE.sqrt(Decimal(root)), _PRECISE.power(_PI, power)))


@lru_cache(maxsize=1024)
def _without_squares(number: int) -> tuple[int, int]:
    """Return (a, b) with number = a * a * b and b square-free; (0, 1) for zero.

    Raises:
        UnreadableError: the number is beyond `LARGEST_RADICAND`.
    """
    if number > LARGEST_RADICAND:
        msg = f"a root of a number beyond {LARGEST_RADICAND:,}"
        raise UnreadableError(msg)
    if not number:
        return 0, 1
    outside, inside, divisor = 1, number, 2
    while divisor * divisor <= inside:
        while inside % (divisor * divisor) == 0:
            inside //= divisor * divisor
            outside *= divisor
        divisor += 1
    return outside, inside
