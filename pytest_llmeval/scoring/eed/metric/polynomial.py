"""Sparse polynomials with rational coefficients and rational exponents.

A polynomial is a dict from monomials to coefficients without zeros. A monomial is a sorted tuple of
(generator, exponent), also with negative and fractional exponents; generators are numbered.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

Rational: TypeAlias = int | Fraction
Monomial: TypeAlias = tuple[tuple[int, Rational], ...]
Polynomial: TypeAlias = dict[Monomial, Rational]

MAX_TERMS = 40
"""Of any polynomial; larger ones are not computed."""

ONE: Monomial = ()

_MAX_DIVISION_STEPS = 2 * MAX_TERMS


class TooManyTerms(ValueError):  # noqa: N818 - a limit, not a mistake
    """A result would have more than MAX_TERMS terms."""


def constant(value: Rational) -> Polynomial:
    """Return the polynomial that is a number."""
    return {ONE: value} if value else {}


def times(one: Monomial, other: Monomial) -> Monomial:
    """Return the product of two monomials."""
    if not one or not other:
        return one or other
    exponents = dict(one)
    for generator, exponent in other:
        exponents[generator] = exponents.get(generator, 0) + exponent
    return tuple(sorted(item for item in exponents.items() if item[1]))


def to_power(monomial: Monomial, exponent: Rational) -> Monomial:
    """Return a power of a monomial."""
    return tuple([(generator, whole(own * exponent)) for generator, own in monomial])


def whole(value: Rational) -> Rational:
    """Return an int for a whole number: arithmetic of ints is faster."""
    return value.numerator if value.denominator == 1 else value


def add(polynomials: Iterable[Polynomial]) -> Polynomial:
    """Return a sum."""
    total: Polynomial = {}
    for polynomial in polynomials:
        for monomial, coefficient in polynomial.items():
            total[monomial] = total.get(monomial, 0) + coefficient
    _check(len(total))
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def multiply(one: Polynomial, other: Polynomial) -> Polynomial:
    """Return a product."""
    _check(len(one) * len(other))
    total: Polynomial = {}
    for left, ours in one.items():
        for right, theirs in other.items():
            monomial = times(left, right)
            total[monomial] = total.get(monomial, 0) + ours * theirs
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def power(polynomial: Polynomial, exponent: int) -> Polynomial:
    """Return a power with a whole exponent of 0 or more."""
    if len(polynomial) == 1:
        ((monomial, coefficient),) = polynomial.items()
        return {to_power(monomial, exponent): coefficient**exponent}
    if exponent > MAX_TERMS:
        raise TooManyTerms
    _check(math.comb(len(polynomial) + exponent - 1, exponent))
    return reduce(multiply, [polynomial] * exponent, constant(1))


def _check(terms: int) -> None:
    if terms > MAX_TERMS:
        raise TooManyTerms


def content(polynomial: Polynomial) -> tuple[Rational, Monomial]:
    """Return the largest factor that all terms have in common: a positive number and a monomial."""
    coefficients = polynomial.values()
    number = Fraction(
        math.gcd(*(coefficient.numerator for coefficient in coefficients)),
        math.lcm(*(coefficient.denominator for coefficient in coefficients)),
    )
    first, *others = (dict(monomial) for monomial in polynomial)
    lowest = {
        generator: min([exponent, *(other.get(generator, 0) for other in others)])
        for generator, exponent in first.items()
    }
    for other in others:
        for generator, exponent in other.items():
            if generator not in lowest:
                lowest[generator] = min(
                    0, exponent, *(another.get(generator, 0) for another in others)
                )
    return whole(number), tuple(sorted(item for item in lowest.items() if item[1]))


def divided_by(polynomial: Polynomial, number: Rational, monomial: Monomial) -> Polynomial:
    """Return the polynomial divided by a number and a monomial."""
    inverse, factor = to_power(monomial, -1), 1 / Fraction(number)
    return {
        times(own, inverse): whole(coefficient * factor) for own, coefficient in polynomial.items()
    }


def quotient(dividend: Polynomial, divisor: Polynomial) -> Polynomial | None:
    """Return the quotient, or None if there is a remainder or many steps would be needed.

    Both must be without negative exponents.
    """
    monomials = (*dividend, *divisor)
    order = sorted({generator for monomial in monomials for generator, _ in monomial})

    def rank(monomial: Monomial) -> list[Rational]:
        exponents = dict(monomial)
        return [exponents.get(generator, 0) for generator in order]

    lead = max(divisor, key=rank)
    inverse, coefficient = to_power(lead, -1), divisor[lead]
    rest, result = dict(dividend), dict[Monomial, Rational]()
    for _ in range(_MAX_DIVISION_STEPS):
        if not rest:
            return result
        first = max(rest, key=rank)
        factor = times(first, inverse)
        if any(exponent < 0 for _, exponent in factor):
            return None
        share = whole(Fraction(rest[first]) / coefficient)
        result[factor] = share
        for monomial, own in divisor.items():
            place = times(monomial, factor)
            value = rest.get(place, 0) - own * share
            if value:
                rest[place] = value
            else:
                rest.pop(place, None)
    return None
