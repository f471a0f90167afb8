"""The tree of a sympy expression."""

from __future__ import annotations

from typing import cast

import sympy

from pytest_llmeval.scoring.eed.metric.tree import Kind, Node

ORDERED_PRODUCT = "OrderedMul"
"""The function that stands for a product of factors that do not commute."""

ORDERED_POWER = "OrderedPow"
"""The function that stands for a power of something that does not commute."""

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
    below = tuple([published_tree(argument) for argument in _children(expression)])
    return Node(kind, _text(kind, expression), below)


def tree(expression: sympy.Basic) -> Node:
    """Return the tree of any expression; other parts become functions or numbers.

    Factors that do not commute are the arguments of a function of their own.
    """
    kind = _kind(expression) or ("function" if expression.args else "number")
    below = [tree(argument) for argument in _children(expression)]
    if kind == "operator" and not expression.is_commutative:
        return _ordered(expression, below)
    return Node(kind, _text(kind, expression), tuple(below))


def _ordered(expression: sympy.Expr, below: list[Node]) -> Node:
    """Return the tree of a sum, product or power that holds what does not commute."""
    text = type(expression).__name__
    if text == "Pow" and not expression.base.is_Symbol:
        return Node("function", ORDERED_POWER, tuple(below))
    if text != "Mul":
        return Node("operator", text, tuple(below))
    first = next(i for i, factor in enumerate(expression.args) if not factor.is_commutative)
    factors = tuple(below[first:])  # sympy puts those that commute before the others
    if len(factors) == 1:
        return Node("operator", text, tuple(below))
    product = Node("function", ORDERED_PRODUCT, factors)
    return Node("operator", text, (*below[:first], product)) if first else product


def _kind(expression: sympy.Basic) -> Kind | None:
    if isinstance(expression, sympy.Symbol):
        return "symbol"
    if isinstance(expression, _OPERATORS):
        return "operator"
    if isinstance(expression, _NUMBERS):
        return "number"
    return "function" if isinstance(expression, sympy.Function) else None


def _text(kind: Kind, expression: sympy.Basic) -> str:
    match kind:
        case "operator" | "function":
            return type(expression).__name__
        case "symbol":
            return cast("str", expression.name)
        case _ if expression.is_Integer:
            return str(expression.p)
        case _ if expression.is_Rational:
            return f"{expression.p}/{expression.q}"
    return str(expression)


def _children(expression: sympy.Basic) -> tuple[sympy.Basic, ...]:
    return (
        ()
        if isinstance(expression, sympy.Number)
        else cast("tuple[sympy.Basic, ...]", expression.args)
    )
