"""The atoms of the corrected reader: symbols, numbers, undefined functions; sums and products."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from operator import add, mul

import sympy

_EXACT = 10**15  # a decimal beyond it is not an exact integer
_VECTOR = re.compile(r"vec\{(.+?)\}(.*)")
DEGREE = sympy.pi / 180
_ARROWS = ("vec{", "hat{", "nabla")
MATRIX = sympy.matrices.MatrixBase


def symbol(name: str) -> sympy.Symbol:
    """Return the positive symbol of that name."""
    return sympy.Symbol(name, positive=True)


def renamed(item: sympy.Symbol, name: str) -> sympy.Symbol:
    """Return a symbol of another name with the same assumptions."""
    return item.func(name, **item.assumptions0)


def opaque(name: str, *arguments: sympy.Basic) -> sympy.Expr:
    """Return an undefined function, such as a relation or tuple, equal to itself only."""
    return sympy.Function(name)(*arguments)


def arguments_of(value: sympy.Expr) -> tuple[sympy.Expr, ...]:
    """Return the members of a tuple made by `opaque`, or the value as the only one."""
    return value.args if type(value).__name__ == "Tuple" else (value,)


def number(text: str) -> sympy.Expr:
    """Return an exact integer, also for 3.0 and 1e5, or a Float, which may be a rounded value."""
    if text.isdigit():
        return sympy.Integer(int(text))
    value = float(text)
    if value.is_integer() and abs(value) < _EXACT:
        return sympy.Integer(int(value))
    return sympy.Float(text)


def total(terms: Sequence[sympy.Expr]) -> sympy.Expr:
    """Return the sum, also of matrices."""
    if len(terms) == 1:
        return terms[0]
    if any(isinstance(term, MATRIX) for term in terms):
        return reduce(add, terms)
    return sympy.Add(*terms)


def product(factors: Sequence[sympy.Expr]) -> sympy.Expr:
    """Return the product, also of matrices."""
    if len(factors) == 1:
        return factors[0]
    if any(isinstance(factor, MATRIX) for factor in factors):
        return reduce(mul, factors)
    return sympy.Mul(*factors)


def magnitude(value: sympy.Expr) -> sympy.Expr:
    r"""Return an absolute value; of a vector its letter, of a matrix its determinant."""
    if isinstance(value, MATRIX):
        return value.det()
    vector = _VECTOR.fullmatch(value.name) if value.is_Symbol else None
    return sympy.Abs(value) if vector is None else symbol(vector[1] + vector[2])


def decorated(value: sympy.Expr, decoration: str) -> sympy.Expr:
    """Return a value with a degree sign, a star, a dagger or another mark as its exponent."""
    match decoration:
        case "circ":
            return value * DEGREE
        case "*" | "star":
            return sympy.conjugate(value)
        case "dagger":
            return adjoint(value)
    return opaque(f"with_{decoration}", value)


def adjoint(value: sympy.Expr) -> sympy.Expr:
    """Return the adjoint of an operator, of a product in the reverse order."""
    if isinstance(value, sympy.Add):
        return sympy.Add(*map(adjoint, value.args))
    if value.is_commutative is False and isinstance(value, sympy.Mul):
        scalars, operators = value.args_cnc()
        conjugated = (sympy.conjugate(item) for item in scalars)
        return sympy.Mul(*conjugated, *(adjoint(item) for item in reversed(operators)))
    if type(value).__name__ == "with_dagger":
        return value.args[0]
    return opaque("with_dagger", value)


def is_vector(value: sympy.Basic) -> bool:
    """Return whether a value is a vector: symbols with an arrow or hat, times scalars."""
    if isinstance(value, sympy.Add):
        return all(is_vector(term) for term in value.args)
    factors = [factor for factor in sympy.Mul.make_args(value) if _is_vector_factor(factor)]
    return len(factors) == 1


def _is_vector_factor(factor: sympy.Basic) -> bool:
    if isinstance(factor, sympy.Symbol):
        return factor.name.startswith(_ARROWS) and factor.is_commutative is not False
    if isinstance(factor, sympy.Add):
        return is_vector(factor)
    return type(factor).__name__ == "cross"


def cross(left: sympy.Expr, right: sympy.Expr) -> sympy.Expr:
    """Return a cross product, linear in both factors; they are sorted, which changes the sign."""
    terms = [
        (ours, theirs)
        for ours in sympy.Add.make_args(sympy.expand(left))
        for theirs in sympy.Add.make_args(sympy.expand(right))
    ]
    if len(terms) > 1:
        return sympy.Add(*(cross(ours, theirs) for ours, theirs in terms))
    our_scalar, left = _split_scalar(terms[0][0])
    their_scalar, right = _split_scalar(terms[0][1])
    scalar = our_scalar * their_scalar
    if scalar != 1:
        return scalar * cross(left, right)
    if left == right:
        return sympy.Integer(0)
    if str(right) < str(left):
        return -opaque("cross", right, left)
    return opaque("cross", left, right)


def _split_scalar(term: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    """Split a multiple of a vector into the scalar and the vector."""
    factors = sympy.Mul.make_args(term)
    scalars = [factor for factor in factors if not _is_vector_factor(factor)]
    if len(scalars) == len(factors):
        return sympy.Integer(1), term
    return sympy.Mul(*scalars), sympy.Mul(*(item for item in factors if item not in scalars))


def with_triple_products(value: sympy.Basic) -> sympy.Basic:
    """Return an expression with each scalar triple product a (b x c) in one order."""
    if isinstance(value, sympy.Add):
        return sympy.Add(*(with_triple_products(term) for term in value.args))
    vectors = [item for item in sympy.Mul.make_args(value) if _is_vector_factor(item)]
    products = [item for item in vectors if type(item).__name__ == "cross"]
    if len(products) != 1 or len(vectors) != 2:  # noqa: PLR2004 - the vector and the cross product
        return value
    (one,) = (item for item in vectors if item is not products[0])
    members = [one, *products[0].args]
    ordered = sorted(members, key=str)
    sign = sympy.LeviCivita(*(ordered.index(member) for member in members))
    return value / (one * products[0]) * sign * opaque("triple", *ordered)
