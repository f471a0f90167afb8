"""Expression trees: nodes, and the numbering that the edit distance works on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["number", "symbol", "operator", "function"]

_INFIX = {"Add": " + ", "Mul": "*", "Pow": "**"}


@dataclass(frozen=True, slots=True)
class Node:
    """One node of an expression tree; two nodes agree when kind and text do."""

    kind: Kind
    text: str
    children: tuple[Node, ...] = ()

    @property
    def label(self) -> tuple[Kind, str]:
        """Kind and text: what a relabelling changes."""
        return self.kind, self.text

    def __str__(self) -> str:
        """Write the formula below this node, on one line."""
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
        """Write every node below and including this one, children in brackets behind their parent."""
        below = ", ".join(child.prefix() for child in self.children)
        return f"{self.text}({below})" if self.children else self.text

    def renamed(self, names: Mapping[str, str]) -> Node:
        """Return the tree with other names for its symbols; one that is not among them keeps its own."""
        text = names.get(self.text, self.text) if self.kind == "symbol" else self.text
        return Node(self.kind, text, tuple(child.renamed(names) for child in self.children))

    def walk(self) -> Iterator[Node]:
        """Yield all nodes in post-order."""
        for child in self.children:
            yield from child.walk()
        yield self


@dataclass(frozen=True, slots=True)
class Numbering:
    """A tree in post-order: node, leftmost leaf, parent and subtree size by index; -1 is the root's parent."""

    nodes: tuple[Node, ...]
    leftmost: tuple[int, ...]
    parents: tuple[int, ...]

    @classmethod
    def of(cls, root: Node) -> Numbering:
        """Return the tree below `root`, numbered."""
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
        """Return how many nodes the tree has."""
        return len(self.nodes)

    def size(self, index: int) -> int:
        """Return how many nodes stand in the subtree of `index`."""
        return index - self.leftmost[index] + 1

    @property
    def keyroots(self) -> list[int]:
        """The highest node of each leftmost path, ascending (Zhang and Shasha 1989)."""
        highest = {leaf: index for index, leaf in enumerate(self.leftmost)}
        return sorted(highest.values())
