"""The atoms of the corrected reader: positive symbols, and undefined functions for what has no meaning here."""

from __future__ import annotations

import sympy


def symbol(name: str) -> sympy.Symbol:
    """Return the positive symbol of that name."""
    return sympy.Symbol(name, positive=True)


def opaque(name: str, *arguments: sympy.Basic) -> sympy.Expr:
    """Return an undefined function: a relation, a tuple, a derivative, equal to itself and to nothing else."""
    return sympy.Function(name)(*arguments)


def arguments_of(value: sympy.Expr) -> tuple[sympy.Expr, ...]:
    """Return the members of a tuple as `opaque` writes it, or the value alone."""
    return value.args if type(value).__name__ == "tuple" else (value,)
