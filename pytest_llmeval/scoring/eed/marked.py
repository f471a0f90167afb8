"""Expression trees with the edits marked on them, for whoever draws them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, cast

from pytest_llmeval.records import Json
from pytest_llmeval.scoring.eed.distance import TreeDistance
from pytest_llmeval.scoring.eed.edits import Edit
from pytest_llmeval.scoring.eed.tree import Numbering

Mark: TypeAlias = Literal["", "relabel", "delete", "insert"]

MAX_NODES = 200
"""Larger trees are not kept: nobody reads their drawing, and every row would carry them."""

_LONGEST = 40
"""Signs of a node's text that are kept."""


class MarkedNode(NamedTuple):
    """One node: what it says, how many children it has, and what an edit does to it ("" for nothing)."""

    text: str
    children: int
    mark: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedTrees:
    """The two trees that were compared, each in post-order."""

    answer: tuple[MarkedNode, ...]
    target: tuple[MarkedNode, ...]

    @classmethod
    def of(cls, distance: TreeDistance, edits: Sequence[Edit]) -> MarkedTrees | None:
        """Return the trees of a distance with its edit script on them; None when one is over MAX_NODES."""
        if max(len(distance.source), len(distance.target)) > MAX_NODES:
            return None
        source = [(edit.source, edit) for edit in edits if edit.source is not None]
        target = [(edit.target, edit) for edit in edits if edit.target is not None]
        return cls(answer=_marked(distance.source, source), target=_marked(distance.target, target))

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form: a list of [text, children, mark] for each tree."""
        return {
            "answer": [list(node) for node in self.answer],
            "target": [list(node) for node in self.target],
        }

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> MarkedTrees:
        """Return the trees that `to_json` wrote."""
        return cls(answer=tuple(_nodes(data["answer"])), target=tuple(_nodes(data["target"])))


def _marked(tree: Numbering, edits: Sequence[tuple[int, Edit]]) -> tuple[MarkedNode, ...]:
    marks: dict[int, Mark] = {}
    for index, edit in edits:
        word, _, whole = edit.kind.partition(" ")
        first = tree.leftmost[index] if whole else index
        marks |= dict.fromkeys(range(first, index + 1), cast("Mark", word))
    return tuple(
        MarkedNode(node.text[:_LONGEST], len(node.children), marks.get(index, ""))
        for index, node in enumerate(tree.nodes)
    )


def _nodes(data: Json) -> Iterator[MarkedNode]:
    for text, children, mark in cast("list[tuple[str, int, Mark]]", data):
        yield MarkedNode(text, children, mark)
