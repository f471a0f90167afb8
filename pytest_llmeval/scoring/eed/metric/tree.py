"""Expression trees: nodes, and the post-order that the edit distance works on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["number", "symbol", "operator", "function"]

_INFIX = {"Add": " + ", "Mul": "*", "Pow": "**"}


@dataclass(frozen=True, slots=True)
class Node:
    """One node of an expression tree, with its children."""

    kind: Kind
    text: str
    children: tuple[Node, ...] = ()

    @property
    def label(self) -> tuple[Kind, str]:
        """Kind and text, which a relabelling changes."""
        return self.kind, self.text

    def __str__(self) -> str:
        """Return the formula of this subtree, on one line."""
        if not self.children:
            return self.text
        parts = [str(child) for child in self.children]
        if self.kind == "operator" and self.text in _INFIX:
            nested = [
                f"({part})" if child.kind == "operator" else part
                for child, part in zip(self.children, parts, strict=True)
            ]
            return _INFIX[self.text].join(nested)
        return f"{self.text}({', '.join(parts)})"

    def prefix(self) -> str:
        """Return the nodes of this subtree in prefix notation, children in brackets."""
        below = ", ".join(child.prefix() for child in self.children)
        return f"{self.text}({below})" if self.children else self.text

    def renamed(self, names: Mapping[str, str]) -> Node:
        """Return the tree with the symbols in `names` renamed."""
        text = names.get(self.text, self.text) if self.kind == "symbol" else self.text
        return Node(self.kind, text, tuple(child.renamed(names) for child in self.children))

    def walk(self) -> Iterator[Node]:
        """Yield all nodes in post-order."""
        for child in self.children:
            yield from child.walk()
        yield self


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

    @property
    def keyroots(self) -> list[int]:
        """The highest node of each leftmost path, ascending (Zhang and Shasha 1989)."""
        highest = {leaf: index for index, leaf in enumerate(self.leftmost)}
        return sorted(highest.values())
