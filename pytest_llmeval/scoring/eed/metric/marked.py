"""Expression trees with marked edits, for drawing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias, cast

from pytest_llmeval.records import Record
from pytest_llmeval.scoring.eed.metric.distance import TreeDistance
from pytest_llmeval.scoring.eed.metric.edits import Edit
from pytest_llmeval.scoring.eed.metric.tree import PostOrder

Mark: TypeAlias = Literal["", "relabel", "delete", "insert"]

MAX_NODES: Final = 200
"""Larger trees are not kept: their drawing is unreadable, and every row would store them."""

_LONGEST = 40  # characters kept of a node's text


class MarkedNode(NamedTuple):
    """One node: its text, its number of children, and its edit (``""`` for none)."""

    text: str
    children: int
    mark: Mark


class MarkedTrees(Record, frozen=True, kw_only=True):
    """The two trees of a comparison, each in post-order.

    In JSON a node is the list ``[text, children, mark]``.
    """

    answer: tuple[MarkedNode, ...]
    target: tuple[MarkedNode, ...]

    @classmethod
    def of(cls, distance: TreeDistance, edits: Sequence[Edit]) -> MarkedTrees | None:
        """Return the trees of a distance with its edits; None if one is larger than MAX_NODES."""
        if max(len(distance.source), len(distance.target)) > MAX_NODES:
            return None
        source = [(edit.source, edit) for edit in edits if edit.source is not None]
        target = [(edit.target, edit) for edit in edits if edit.target is not None]
        return cls(answer=_marked(distance.source, source), target=_marked(distance.target, target))


def _marked(tree: PostOrder, edits: Sequence[tuple[int, Edit]]) -> tuple[MarkedNode, ...]:
    marks: dict[int, Mark] = {}
    for index, edit in edits:
        mark, _, subtree = edit.kind.partition(" ")
        first = tree.leftmost[index] if subtree else index
        marks |= dict.fromkeys(range(first, index + 1), cast("Mark", mark))
    return tuple(
        MarkedNode(node.text[:_LONGEST], len(node.children), marks.get(index, ""))
        for index, node in enumerate(tree.nodes)
    )
