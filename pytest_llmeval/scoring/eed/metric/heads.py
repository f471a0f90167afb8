"""What the metric knows of operators and functions: which commute, and which keep a sign."""

from __future__ import annotations

from pytest_llmeval.scoring.eed.metric.tree import Label, Node

COMMUTATIVE: frozenset[Label] = frozenset(
    {
        ("operator", "Add"),
        ("operator", "Mul"),
        *(("function", name) for name in ("Max", "Min", "dot")),
        *(("function", name) for name in ("Equation", "Set", "Several", "Any", "All", "Same")),
    }
)
"""Labels of nodes whose children have no order."""

_TRIGONOMETRIC = ("sin", "tan", "cot", "csc", "sinh", "tanh", "coth", "csch")
ODD = frozenset({*_TRIGONOMETRIC, "asin", "atan", "asinh", "atanh", "erf", "sign"})
"""Functions with f(-x) = -f(x)."""

EVEN = frozenset({"cos", "sec", "cosh", "sech", "Abs"})
"""Functions with f(-x) = f(x)."""


def parity(node: Node) -> int:
    """Return 1 for a node that is odd in its first child, 0 for one that is even, else -1."""
    match node.kind, node.text:
        case "function", name if name in ODD:
            return 1
        case "function", name if name in EVEN:
            return 0
        case "operator", "Pow":
            exponent = node.children[1]
            if exponent.kind == "number" and exponent.text.removeprefix("-").isdecimal():
                return int(exponent.text) % 2
    return -1


def is_negative(node: Node) -> bool:
    """Return whether a node is a negative number."""
    return node.kind == "number" and node.text.startswith("-")


def has_free_sign(node: Node) -> bool:
    """Return whether a node times -1 has as many terms and signs as the node: b - a for a - b.

    So it is with a sum that has as many negative terms as others, apart from terms of free sign,
    and with what is odd in one.
    """
    if node.kind == "operator" and node.text == "Mul":
        return any(has_free_sign(factor) for factor in node.children)
    if node.kind == "operator" and node.text == "Add":
        fixed = [term for term in node.children if not has_free_sign(term)]
        return 2 * sum(map(_is_subtracted, fixed)) == len(fixed)
    return bool(node.children) and parity(node) == 1 and has_free_sign(node.children[0])


def _is_subtracted(term: Node) -> bool:
    return is_negative(term.children[0] if term.children and term.text == "Mul" else term)
