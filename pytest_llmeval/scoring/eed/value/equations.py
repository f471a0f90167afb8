"""Equality of equations: the same solutions, as differences of the sides up to a factor."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sympy

Same = Callable[[sympy.Expr, sympy.Expr], bool]

_MOST_OPERATIONS = 150
_MOST_TERMS = 8


def same_solutions(
    one: sympy.Expr, other: sympy.Expr, same: Same, *, positive_factor: bool = False
) -> bool:
    """Return whether ``one = 0`` and ``other = 0`` have the same solutions.

    They have if one is the other times a factor that is never zero: a number, or a product of
    powers of symbols.

    Args:
        one: left side less right side of an equation.
        other: likewise.
        same: decides whether two expressions have the same value.
        positive_factor: whether the factor must be positive, as for inequalities.
    """
    if one.is_commutative is False or other.is_commutative is False:
        return same(one, other) or (not positive_factor and same(one, -other))
    factors = [factor for factor in _guesses(one, other) if _is_never_zero(factor, positive_factor)]
    if any(same(one, factor * other) for factor in factors):
        return True
    zero = sympy.Integer(0)
    sums = isinstance(one, sympy.Add) and isinstance(other, sympy.Add)
    definite = any(
        side.is_positive or side.is_negative or same(side, zero) for side in (one, other)
    )
    if not sums or definite or max(one.count_ops(), other.count_ops()) > _MOST_OPERATIONS:
        return False
    ratio = sympy.cancel(sympy.together(one) / sympy.together(other))
    return _is_never_zero(ratio, positive_factor, sums=True)


def _guesses(one: sympy.Expr, other: sympy.Expr) -> Iterator[sympy.Expr]:
    """Yield factors that may lie between two differences: quotients of their terms."""
    yield sympy.Integer(1)
    yield sympy.Integer(-1)
    if not (isinstance(one, sympy.Add) and isinstance(other, sympy.Add)):
        quotient = one / other if not other.is_zero else sympy.nan
        if quotient.is_number and quotient.is_finite:
            yield quotient
        return
    for term in other.args[:_MOST_TERMS]:
        yield one.args[0] / term


def _is_never_zero(factor: sympy.Expr, positive: bool, *, sums: bool = False) -> bool:  # noqa: FBT001 - private
    """Return whether a factor is a product of powers of quantities and numbers, and no zero.

    Args:
        factor: the quotient of two differences.
        positive: whether it must be positive.
        sums: whether sums of physical quantities count: never where the differences are sums of
            positive terms themselves.
    """
    for item in sympy.Mul.make_args(factor):
        base = item.as_base_exp()[0]
        if base.is_number:
            if base.is_zero or (positive and not item.is_positive):
                return False
        elif isinstance(base, sympy.Add):
            # A sum of a letter and a number may be zero: an unknown x may be negative.
            if not (sums and base.is_positive and len(base.free_symbols) > 1):
                return False
        elif positive and not base.is_positive:
            return False
    return True


def solved_for(symbol: sympy.Expr, value: sympy.Expr, difference: sympy.Expr, same: Same) -> bool:
    """Return whether ``symbol = value`` is the one positive solution of ``difference = 0``.

    Decides where the symbol occurs linearly, or in one power only, as in ``v^2 - 2gh``.
    """
    if not symbol.is_Symbol or not difference.has(symbol):
        return False
    slope = sympy.diff(difference, symbol)
    if not slope.has(symbol):
        return same(slope * value, -difference.subs(symbol, 0))
    rest, powers = sympy.expand(difference).as_independent(symbol, as_Add=True)
    if powers == 0 or isinstance(powers, sympy.Add):
        return False
    coefficient, power = powers.as_independent(symbol, as_Add=False)
    if power.as_base_exp()[0] != symbol or power.as_base_exp()[1].has(symbol):
        return False
    if not difference.free_symbols - {symbol}:
        return False  # x = 2 is one solution of x^2 = 4 only
    return same(coefficient * value ** power.as_base_exp()[1], -rest)
