"""Equality of expressions whose factors have an order: operators and states."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import sympy

_MOST_TERMS = 200


def same_words(
    one: sympy.Expr, other: sympy.Expr, same: Callable[[sympy.Expr, sympy.Expr], bool]
) -> bool:
    """Return whether two sums have the same coefficient before each product of ordered factors.

    Sums of more than 200 terms are not compared, and so not the same.

    Args:
        one: an expression with noncommutative symbols.
        other: likewise.
        same: decides on two coefficients.
    """
    one, other = sympy.expand(one), sympy.expand(other)
    if max(len(sympy.Add.make_args(side)) for side in (one, other)) > _MOST_TERMS:
        return False
    ours, theirs = _coefficients(one), _coefficients(other)
    zero = sympy.Integer(0)
    return all(
        same(ours.get(word, zero), theirs.get(word, zero)) for word in ours.keys() | theirs.keys()
    )


def _coefficients(expression: sympy.Expr) -> dict[tuple[sympy.Expr, ...], sympy.Expr]:
    """Return the coefficient of each product of ordered factors in an expanded sum."""
    found: defaultdict[tuple[sympy.Expr, ...], list[sympy.Expr]] = defaultdict(list)
    for term in sympy.Add.make_args(expression):
        factors, word = term.args_cnc()
        scalars, joined = _joined(word)
        found[tuple(joined)].append(sympy.Mul(*factors, *scalars))
    return {word: sympy.Add(*coefficients) for word, coefficients in found.items()}


def _bracketed(word: Sequence[sympy.Expr]) -> list[sympy.Expr]:
    """Join the operators between a bra and a ket to the ket, so that all three are a bracket."""
    result: list[sympy.Expr] = []
    for factor in word:
        inside: list[str] = []
        while (
            str(factor).startswith("|")
            and len(result) > 1
            and _is_operator(result[-1])
            and any(str(item).startswith("<") for item in result)
        ):
            inside.insert(0, str(result.pop()).replace("hat{", "").replace("}", ""))
        label = "".join(inside)
        result.append(sympy.Symbol(f"|{label}{factor}", commutative=False) if inside else factor)
    return result


def _is_operator(factor: sympy.Expr) -> bool:
    return not str(factor).startswith(("<", "|"))


def _joined(word: Sequence[sympy.Expr]) -> tuple[list[sympy.Expr], list[sympy.Expr]]:
    """Join what stands beside each other: a bra and a ket to a bracket, two kets to one.

    Returns:
        The brackets, which have no order, and the factors that are left.
    """
    scalars: list[sympy.Expr] = []
    left: list[sympy.Expr] = []
    word = _bracketed(word)
    for factor in word:
        before, here = str(left[-1]) if left else "", str(factor)
        if before.startswith("<") and before.endswith("|") and here.startswith("|"):
            left.pop()
            scalars.append(sympy.Symbol(f"{before[:-1]}{here}"))
        elif before.startswith("|") and before.endswith(">") and here.startswith("|"):
            left[-1] = sympy.Symbol(f"{before[:-1]}{here[1:]}", commutative=False)
        else:
            left.append(factor)
    return scalars, left
