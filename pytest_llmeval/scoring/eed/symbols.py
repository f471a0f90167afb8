"""The atoms of the corrected reader: positive symbols and undefined functions."""

from __future__ import annotations

import sympy


def symbol(name: str) -> sympy.Symbol:
    """Return the positive symbol of that name."""
    return sympy.Symbol(name, positive=True)


def opaque(name: str, *arguments: sympy.Basic) -> sympy.Expr:
    """Return an undefined function, such as a relation or tuple, equal to itself only."""
    return sympy.Function(name)(*arguments)


def arguments_of(value: sympy.Expr) -> tuple[sympy.Expr, ...]:
    """Return the members of a tuple made by `opaque`, or the value as the only one."""
    return value.args if type(value).__name__ == "tuple" else (value,)
