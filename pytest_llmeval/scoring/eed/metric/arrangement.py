"""The arrangement of a formula's tree: order and signs that do not depend on names or writing.

sympy sorts arguments by name, and by name it writes sin(a - b) or -sin(b - a). Here arguments that
commute are sorted by the ranks of their symbols, and sums with as many negative terms as others
have the sign that leaves the number before a product positive.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pytest_llmeval.scoring.eed.metric.heads import COMMUTATIVE, has_free_sign, is_negative, parity
from pytest_llmeval.scoring.eed.metric.signature import Signature, Signatures, mixed
from pytest_llmeval.scoring.eed.metric.tree import Node

_ONE = Node("number", "1")
_MINUS_ONE = Node("number", "-1")
_LAST = 1 << 30  # rank of what holds no symbol

_Key: TypeAlias = tuple[bool, bool, int, int, Signature]


def arranged(formula: Node, ranks: Mapping[str, int]) -> Node:
    """Return the tree with its symbols in the order of their ranks."""
    return _Arrangement(ranks).of(formula)


class _Arrangement:
    """Arranges the subtrees of one formula."""

    def __init__(self, ranks: Mapping[str, int]) -> None:
        self._ranks = ranks
        self._signatures = Signatures({name: mixed(rank) for name, rank in ranks.items()})
        self._kept: list[Node] = []  # signatures are known by the identity of nodes

    def of(self, node: Node) -> Node:
        """Return a subtree, arranged."""
        if not node.children:
            return node
        below = [self.of(child) for child in node.children]
        self._kept += below
        if node.label in COMMUTATIVE:
            if node.text == "Mul":
                below = self._with_signs(below)
            below.sort(key=self._key)
        elif (
            parity(node) == 0 and has_free_sign(below[0]) and self._signatures.of(below[0]).negative
        ):
            below[0] = self._negated(below[0])
        return (
            below[0]
            if node.text == "Mul" and len(below) == 1
            else node._replace(children=tuple(below))
        )

    def _with_signs(self, factors: list[Node]) -> list[Node]:
        """Return factors of the same product.

        Those of free sign have the sign of their signature, except for the first of them if the
        number before the product would be negative.
        """
        free = [i for i, factor in enumerate(factors) if has_free_sign(factor)]
        if not free:
            return factors
        changed = {i for i in free if self._signatures.of(factors[i]).negative}
        minus = sum(factor.kind == "number" and factor.text[0] == "-" for factor in factors)
        if (minus + len(changed)) % 2:
            changed ^= {min(free, key=lambda i: self._signatures.of(factors[i]).size)}
        result = [
            self._negated(factor) if i in changed else _magnitude(factor)
            for i, factor in enumerate(factors)
        ]
        return [factor for factor in result if factor != _ONE]

    def _negated(self, node: Node) -> Node:
        """Return a node of free sign with the other sign."""
        below = [*node.children]
        if node.text == "Add":
            below = sorted([self._keep(_opposite(term)) for term in below], key=self._key)
        elif node.text == "Mul":
            free = [i for i, factor in enumerate(below) if has_free_sign(factor)]
            first = min(free, key=lambda i: self._signatures.of(below[i]).size)
            below[first] = self._negated(below[first])
        else:
            below[0] = self._negated(below[0])
        return self._keep(node._replace(children=tuple(below)))

    def _keep(self, node: Node) -> Node:
        self._kept.append(node)
        return node

    def _key(self, node: Node) -> _Key:
        """Return the place of a node among others: numbers first, subtracted and divisors last."""
        nodes = [*node.walk()]
        first = min([self._ranks[n.text] for n in nodes if n.kind == "symbol"], default=_LAST)
        last = is_negative(node.children[-1 if node.text == "Pow" else 0]) if nodes[1:] else False
        return node.kind != "number", last, first, len(nodes), self._signatures.of(node)


def _magnitude(factor: Node) -> Node:
    return factor._replace(text=factor.text[1:]) if is_negative(factor) else factor


def _opposite(term: Node) -> Node:
    """Return a term with the other sign."""
    if term.kind == "number":
        text = term.text[1:] if is_negative(term) else f"-{term.text}"
        return term._replace(text=text)
    if term.text != "Mul" or term.kind != "operator":
        return Node("operator", "Mul", (_MINUS_ONE, term))
    first, *others = term.children
    if first == _MINUS_ONE:
        return others[0] if len(others) == 1 else term._replace(children=tuple(others))
    if first.kind == "number":
        return term._replace(children=(_opposite(first), *others))
    return term._replace(children=(_MINUS_ONE, *term.children))
