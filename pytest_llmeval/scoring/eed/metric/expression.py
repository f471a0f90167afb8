"""The tree of a sympy expression."""

from __future__ import annotations

from typing import cast

import sympy

from pytest_llmeval.scoring.eed.metric.tree import Kind, Node

_NUMBERS = (
    sympy.Integer,
    sympy.Rational,
    sympy.Float,
    type(sympy.pi),
    type(sympy.E),
    type(sympy.oo),
    type(-sympy.oo),
)
_OPERATORS = (sympy.Add, sympy.Mul, sympy.Pow)


class NoTree(ValueError):  # noqa: N818 - the name is part of stored reasons
    """A part of the expression has no node in the published metric."""


def published_tree(expression: sympy.Basic) -> Node:
    """Return the tree of the published metric, children in the order of sympy's `args`.

    Raises:
        NoTree: the reference has no node for a part of the expression.
    """
    kind = _kind(expression)
    if kind is None:
        msg = f"no tree node for {type(expression).__name__}"
        raise NoTree(msg)
    return Node(
        kind,
        _text(kind, expression),
        tuple(published_tree(argument) for argument in _children(expression)),
    )


def tree(expression: sympy.Basic) -> Node:
    """Return the tree of any expression; other parts become functions or numbers."""
    kind = _kind(expression) or ("function" if expression.args else "number")
    return Node(
        kind, _text(kind, expression), tuple(tree(argument) for argument in _children(expression))
    )


def _kind(expression: sympy.Basic) -> Kind | None:
    if isinstance(expression, _NUMBERS):
        return "number"
    if isinstance(expression, sympy.Symbol):
        return "symbol"
    if isinstance(expression, _OPERATORS):
        return "operator"
    return "function" if isinstance(expression, sympy.Function) else None


def _text(kind: Kind, expression: sympy.Basic) -> str:
    return type(expression).__name__ if kind in ("operator", "function") else str(expression)


def _children(expression: sympy.Basic) -> tuple[sympy.Basic, ...]:
    return (
        ()
        if isinstance(expression, sympy.Number)
        else cast("tuple[sympy.Basic, ...]", expression.args)
    )
