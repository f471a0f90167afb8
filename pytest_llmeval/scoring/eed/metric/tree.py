"""Expression trees: nodes, and the post-order that the edit distance works on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["number", "symbol", "operator", "function"]
Label: TypeAlias = tuple[Kind, str]


class Node(NamedTuple):
    """One node of an expression tree, with its children."""

    kind: Kind
    text: str
    children: tuple[Node, ...] = ()

    @property
    def label(self) -> Label:
        """Kind and text, which a relabelling changes."""
        return self.kind, self.text

    def __str__(self) -> str:
        """Return the formula of this subtree on one line, such as ``a/(b*c) - sqrt(d)``."""
        if self.kind == "operator" and self.children:
            match self.text:
                case "Add":
                    return _sum_text(self.children)
                case "Mul":
                    return _product_text(self.children)
                case "Pow":
                    return _power_text(*self.children)
        if not self.children:
            return self.text
        return f"{self.text}({', '.join(map(str, self.children))})"

    def prefix(self) -> str:
        """Return the nodes of this subtree in prefix notation, children in brackets."""
        below = ", ".join(child.prefix() for child in self.children)
        return f"{self.text}({below})" if self.children else self.text

    def walk(self) -> Iterator[Node]:
        """Yield all nodes in post-order."""
        for child in self.children:
            yield from child.walk()
        yield self


def _sum_text(terms: Sequence[Node]) -> str:
    first, *others = map(str, terms)
    signed = [f" - {text[1:]}" if text.startswith("-") else f" + {text}" for text in others]
    return "".join([first, *signed])


def _product_text(factors: Sequence[Node]) -> str:
    above, below, sign = [], [], ""
    for factor in factors:
        exponent = factor.children[1] if factor.label == ("operator", "Pow") else None
        if factor.kind == "number" and factor.text == "-1" and not sign:
            sign = "-"
        elif exponent and exponent.kind == "number" and exponent.text.startswith("-"):
            below.append(_power_text(factor.children[0], Node("number", exponent.text[1:])))
        else:
            above.append(_bracketed(factor, "Add"))
    product = f"{sign}{'*'.join(above) or '1'}"
    if not below:
        return product
    return f"{product}/{below[0]}" if len(below) == 1 else f"{product}/({'*'.join(below)})"


def _power_text(base: Node, exponent: Node) -> str:
    if exponent.label == ("number", "1"):
        return _bracketed(base, "Add", "Mul")
    if exponent.label == ("number", "1/2"):
        return f"sqrt({base})"
    return f"{_bracketed(base, 'Add', 'Mul', 'Pow')}**{_bracketed(exponent, 'Add', 'Mul', 'Pow')}"


def _bracketed(node: Node, *operators: str) -> str:
    """Return the text of an operand, in brackets if it is one of these operators."""
    fraction = node.kind == "number" and ("/" in node.text or node.text.startswith("-"))
    inside = (node.kind == "operator" and node.text in operators) or (
        fraction and "Pow" in operators
    )
    return f"({node})" if inside else str(node)


@dataclass(frozen=True, slots=True)
class PostOrder:
    """A tree in post-order.

    Attributes:
        nodes: the nodes, children before their parent.
        leftmost: index of each node's leftmost leaf.
        parents: index of each node's parent; -1 for the root.
    """

    nodes: tuple[Node, ...]
    leftmost: tuple[int, ...]
    parents: tuple[int, ...]

    @classmethod
    def of(cls, root: Node) -> PostOrder:
        """Return the tree of `root` in post-order."""
        nodes: list[Node] = []
        leftmost: list[int] = []
        parents: list[int] = []

        def visit(node: Node) -> int:
            below = [visit(child) for child in node.children]
            index = len(nodes)
            nodes.append(node)
            leftmost.append(leftmost[below[0]] if below else index)
            parents.append(-1)
            for child in below:
                parents[child] = index
            return index

        visit(root)
        return cls(tuple(nodes), tuple(leftmost), tuple(parents))

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.nodes)

    def size(self, index: int) -> int:
        """Return the number of nodes in the subtree at `index`."""
        return index - self.leftmost[index] + 1

    def leftmost_path(self, index: int) -> list[int]:
        """Return the nodes from `index` down to its leftmost leaf that share this leaf."""
        leaf = self.leftmost[index]
        return [node for node in range(leaf, index + 1) if self.leftmost[node] == leaf]

    @property
    def keyroots(self) -> list[int]:
        """The highest node of each leftmost path, ascending (Zhang and Shasha 1989)."""
        highest = {leaf: index for index, leaf in enumerate(self.leftmost)}
        return sorted(highest.values())
