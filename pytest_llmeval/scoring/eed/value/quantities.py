"""Equality of quantities: the same dimension and value, to the precision that the target shows."""

from __future__ import annotations

from fractions import Fraction

import sympy

from pytest_llmeval.scoring.eed.reader.answer import Expression
from pytest_llmeval.scoring.eed.value.values import Values

_ROUNDING = 0.01  # largest relative difference of an approximation from its number
_NEARLY = 1 + 1e-9  # a value in the middle between two decimals rounds to either


def same_quantity(answer: Expression, target: Expression, values: Values) -> bool:
    """Return whether two values with their units are the same.

    A unit that only the answer writes is not compared; one that only the target has is missing.
    Where the target is a decimal with a unit, what rounds to it is equal.
    """
    if target.unit is None:
        return values.same(answer.value, target.value)
    if answer.unit is None or answer.unit.dimension != target.unit.dimension:
        return False
    ours, theirs = in_base_units(answer), in_base_units(target)
    if values.same(ours, theirs):
        return True
    if target.half_digit is None or ours.free_symbols:
        return False
    half = target.half_digit * _rational(target.unit.factor)
    return bool(abs(ours.evalf(20) - theirs.evalf(20)) <= half * _NEARLY)


def in_base_units(quantity: Expression) -> sympy.Expr:
    """Return the value in base units; without a unit, the value itself."""
    if quantity.unit is None:
        return quantity.value
    return quantity.value * _rational(quantity.unit.factor) + _rational(quantity.unit.offset)


def is_near(number: sympy.Expr, value: sympy.Expr) -> bool:
    """Return whether a value is an approximation of a number."""
    return bool(abs(number.evalf() - value.evalf()) <= _ROUNDING * abs(number.evalf()))


def _rational(number: Fraction) -> sympy.Rational:
    return sympy.Rational(number.numerator, number.denominator)
