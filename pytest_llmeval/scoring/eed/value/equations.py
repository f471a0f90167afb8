"""Equality of equations: the same solutions, as differences of the sides up to a factor."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sympy

Same = Callable[[sympy.Expr, sympy.Expr], bool]

_MOST_OPERATIONS = 150


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
    if not (one.is_commutative and other.is_commutative):
        return same(one, other) or (not positive_factor and same(one, -other))
    zero = sympy.Integer(0)
    if same(one, zero) or same(other, zero):
        return same(one, other)
    if any(
        _is_never_zero(factor, positive=positive_factor) and same(one, factor * other)
        for factor in _guesses(one, other)
    ):
        return True
    if max(one.count_ops(), other.count_ops()) > _MOST_OPERATIONS:
        return False
    ratio = sympy.cancel(sympy.together(one) / sympy.together(other))
    return _is_never_zero(ratio, positive=positive_factor)


def _guesses(one: sympy.Expr, other: sympy.Expr) -> Iterator[sympy.Expr]:
    """Yield factors that may lie between two sums: quotients of their first terms."""
    yield sympy.Integer(1)
    yield sympy.Integer(-1)
    first = sympy.Add.make_args(one)[0]
    for term in sympy.Add.make_args(other)[:8]:
        yield first / term


def _is_never_zero(factor: sympy.Expr, *, positive: bool) -> bool:
    """Return whether a factor is a product of powers of symbols and numbers, and no zero."""
    for item in sympy.Mul.make_args(factor):
        base = item.as_base_exp()[0]
        if base.is_number:
            if base.is_zero or (positive and not item.is_positive):
                return False
        elif not _is_positive(base) and not _is_nonzero_name(base, positive=positive):
            return False
    return True


def _is_positive(base: sympy.Expr) -> bool:
    """Return whether a factor is positive for physical quantities.

    A sum of a letter and a number is not taken to be: an unknown x may be negative.
    """
    return bool(base.is_positive) and (base.is_Symbol or len(base.free_symbols) > 1)


def _is_nonzero_name(base: sympy.Expr, *, positive: bool) -> bool:
    named = base.is_Symbol or isinstance(base, sympy.core.function.AppliedUndef)
    return bool(named) and not positive


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
