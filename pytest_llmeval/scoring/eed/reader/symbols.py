"""The atoms of the corrected reader: positive symbols, numbers and undefined functions."""

from __future__ import annotations

import re

import sympy

_EXACT = 10**15  # a decimal beyond it is not an exact integer
_VECTOR = re.compile(r"vec\{(.+?)\}(.*)")


def symbol(name: str) -> sympy.Symbol:
    """Return the positive symbol of that name."""
    return sympy.Symbol(name, positive=True)


def opaque(name: str, *arguments: sympy.Basic) -> sympy.Expr:
    """Return an undefined function, such as a relation or tuple, equal to itself only."""
    return sympy.Function(name)(*arguments)


def arguments_of(value: sympy.Expr) -> tuple[sympy.Expr, ...]:
    """Return the members of a tuple made by `opaque`, or the value as the only one."""
    return value.args if type(value).__name__ == "tuple" else (value,)


def number(text: str) -> sympy.Expr:
    """Return an exact integer, also for 3.0, or a Float, which may be a rounded value."""
    if "." not in text:
        return sympy.Integer(int(text))
    value = float(text)
    if value.is_integer() and abs(value) < _EXACT:
        return sympy.Integer(int(value))
    return sympy.Float(text)


def magnitude(value: sympy.Expr) -> sympy.Expr:
    r"""Return an absolute value; that of a vector is its letter: ``|\vec v|`` is v."""
    vector = _VECTOR.fullmatch(value.name) if value.is_Symbol else None
    return sympy.Abs(value) if vector is None else symbol(vector[1] + vector[2])


def cross(left: sympy.Expr, right: sympy.Expr) -> sympy.Expr:
    """Return a cross product; its factors are sorted, which changes the sign."""
    if str(right) < str(left):
        return -opaque("cross", right, left)
    return opaque("cross", left, right)
