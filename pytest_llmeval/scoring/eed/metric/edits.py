"""The edit script: the insertions, deletions and relabellings behind a distance."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pytest_llmeval.records import Record
from pytest_llmeval.scoring.eed.metric.distance import TreeDistance
from pytest_llmeval.scoring.eed.metric.tree import PostOrder

EditKind: TypeAlias = Literal["relabel", "insert", "delete", "insert subtree", "delete subtree"]

_CLOSE = 1e-9  # far above the rounding errors of sums of weights


class Edit(Record, frozen=True, kw_only=True):
    """One edit on the way from the answer's tree to the target's.

    Attributes:
        kind: what is done.
        node: label of the node that is relabelled, deleted or inserted; a subtree as its formula.
        under: label of its parent, in the target for insertions, else in the answer; empty at the
            root.
        cost: its share of the distance.
        becomes: new label of a relabelled node.
        source: index of the node in the answer's tree, in post-order; None for insertions.
        target: index of the node in the target's tree, in post-order; None for deletions.
    """

    kind: EditKind
    node: str
    under: str
    cost: float
    becomes: str = ""
    source: int | None = None
    target: int | None = None

    def __str__(self) -> str:
        """Return a line such as ``relabel 4 -> 2 under Mul``."""
        change = f"{self.node} -> {self.becomes}" if self.kind == "relabel" else self.node
        return f"{self.kind} {change}" + (f" under {self.under}" if self.under else " at the root")


def edit_script(distance: TreeDistance) -> tuple[Edit, ...]:
    """Return a minimal edit script, in post-order; its costs add up to the distance."""
    edits: list[Edit] = []
    pending = [(len(distance.source) - 1, len(distance.target) - 1)]
    while pending:
        i, j = pending.pop()
        _trace(distance, i, j, edits, pending)
    return tuple(reversed(edits))


def _trace(
    distance: TreeDistance, i: int, j: int, edits: list[Edit], pending: list[tuple[int, int]]
) -> None:
    """Add the edits of the subtrees at i and j, by walking their forest table back to its origin.

    Pairs of subtrees matched as wholes are added to `pending`.
    """
    rows = distance.forest(i, j)
    left_i, left_j = distance.source.leftmost[i], distance.target.leftmost[j]
    x, y = i, j
    while x >= left_i or y >= left_j:
        row, column = x - left_i + 1, y - left_j + 1
        here = rows[row][column]
        start_x = distance.source.leftmost[x] - left_i if row else 0
        start_y = distance.target.leftmost[y] - left_j if column else 0
        if (
            row
            and column
            and start_x == start_y == 0
            and _same(here, rows[row - 1][column - 1] + distance.relabel_cost(x, y))
        ):
            edits.extend(_relabelled(distance, x, y))
            x, y = x - 1, y - 1
        elif (
            row
            and column
            and (start_x or start_y)
            and _same(here, rows[start_x][start_y] + distance.between[x][y])
        ):
            pending.append((x, y))
            x, y = start_x + left_i - 1, start_y + left_j - 1
        elif row and _same(here, rows[row - 1][column] + distance.weights.delete):
            edits.append(_deleted(distance, x, whole=False))
            x -= 1
        elif column and _same(here, rows[row][column - 1] + distance.weights.insert):
            edits.append(_inserted(distance, y, whole=False))
            y -= 1
        elif row and _same(here, rows[start_x][column] + distance.subtree_costs(x, y)[0]):
            edits.append(_deleted(distance, x, whole=True))
            x = start_x + left_i - 1
        else:
            edits.append(_inserted(distance, y, whole=True))
            y = start_y + left_j - 1


def _same(one: float, other: float) -> bool:
    return abs(one - other) < _CLOSE


def _relabelled(distance: TreeDistance, x: int, y: int) -> list[Edit]:
    old, new = distance.source.nodes[x], distance.target.nodes[y]
    if old.label == new.label:
        return []
    cost, under = distance.relabel_cost(x, y), _parent_label(distance.source, x)
    return [
        Edit(
            kind="relabel",
            node=old.text,
            becomes=new.text,
            under=under,
            cost=cost,
            source=x,
            target=y,
        )
    ]


def _deleted(distance: TreeDistance, x: int, *, whole: bool) -> Edit:
    node, under = distance.source.nodes[x], _parent_label(distance.source, x)
    if whole and node.children:
        cost = distance.subtree_costs(x, 0)[0]
        return Edit(kind="delete subtree", node=str(node), under=under, cost=cost, source=x)
    return Edit(kind="delete", node=node.text, under=under, cost=distance.weights.delete, source=x)


def _inserted(distance: TreeDistance, y: int, *, whole: bool) -> Edit:
    node, under = distance.target.nodes[y], _parent_label(distance.target, y)
    if whole and node.children:
        cost = distance.subtree_costs(0, y)[1]
        return Edit(kind="insert subtree", node=str(node), under=under, cost=cost, target=y)
    return Edit(kind="insert", node=node.text, under=under, cost=distance.weights.insert, target=y)


def _parent_label(tree: PostOrder, index: int) -> str:
    """Return the label of a node's parent; empty at the root."""
    parent = tree.parents[index]
    return tree.nodes[parent].text if parent >= 0 else ""
