"""The extended tree edit distance: that of Zhang and Shasha, with a discount for subtrees.

Source: the PHYBench paper (arXiv 2504.16074) for the subtree moves; K. Zhang and D. Shasha, SIAM J.
Comput. 18 (1989).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from pytest_llmeval.records import Record
from pytest_llmeval.scoring.eed.metric.tree import Node, PostOrder

Table: TypeAlias = list[list[float]]

ScoreFunction: TypeAlias = Callable[[float, int], float]
"""From a distance and the target's number of nodes to a score in 0..100."""


class Weights(Record, frozen=True, kw_only=True):
    """Costs of the edits, in units of one node; the defaults are the published ones.

    A subtree of s nodes costs ``min(s, discount * (s - free) + free)`` times the weight of an
    insertion or deletion, so up to `free` nodes it costs as much as its nodes one by one.

    Raises:
        ValueError: a weight is negative, or `free` below 1.
    """

    insert: float = 1.0
    delete: float = 1.0
    relabel: float = 1.0
    discount: float = 0.6
    free: int = 5

    def __post_init__(self) -> None:
        """Check the weights."""
        if min(self.insert, self.delete, self.relabel, self.discount) < 0 or self.free < 1:
            msg = f"Weights: {self} must not be negative, and free must be 1 or more"
            raise ValueError(msg)

    def subtree(self, size: int) -> float:
        """Return the cost of a subtree of `size` nodes, without the weight of its direction."""
        return min(float(size), self.discount * (size - self.free) + self.free) if size > 1 else 1.0


PUBLISHED_WEIGHTS = Weights()
"""The weights of the published metric."""


def published_score(distance: float, tree_size: int) -> float:
    """Return ``60 - 100 d/n``, not below 0; 100 at distance 0 (PHYBench paper)."""
    return 100.0 if distance == 0 else max(0.0, 60.0 - 100.0 * distance / tree_size)


class TreeDistance:
    """The distance between two trees, with the tables for its edit script.

    Attributes:
        source, target: the trees in post-order.
        weights: the costs of the edits.
        between: distance of each subtree of the source from each of the target, by their indices.
    """

    def __init__(self, source: Node, target: Node, weights: Weights = PUBLISHED_WEIGHTS) -> None:
        """Compute the distance from `source` to `target`; O(n m) space."""
        self.source, self.target = PostOrder.of(source), PostOrder.of(target)
        self.weights = weights
        self._delete = [
            weights.delete * weights.subtree(self.source.size(i)) for i in range(len(self.source))
        ]
        self._insert = [
            weights.insert * weights.subtree(self.target.size(j)) for j in range(len(self.target))
        ]
        self._relabel = _relabel_costs(self.source.nodes, self.target.nodes, weights.relabel)
        self.between: Table = [[0.0] * len(self.target) for _ in self.source.nodes]
        for i in self.source.keyroots:
            for j in self.target.keyroots:
                self.forest(i, j)

    @property
    def value(self) -> float:
        """The distance between the whole trees."""
        return self.between[-1][-1]

    def relabel_cost(self, i: int, j: int) -> float:
        """Return the cost of relabelling node i of the source as node j of the target."""
        return self._relabel[i][j]

    def subtree_costs(self, i: int, j: int) -> tuple[float, float]:
        """Return the costs of deleting the source's subtree i and inserting the target's j."""
        return self._delete[i], self._insert[j]

    def forest(self, i: int, j: int) -> Table:
        """Return the forest table of the subtrees at i and j.

        Entry [x][y] is the distance between the first x nodes of the one subtree and the first y of
        the other; row and column 0 stand for the empty forest. Distances between whole subtrees are
        stored in `between`.
        """
        left_i, left_j = self.source.leftmost[i], self.target.leftmost[j]
        first_row = [0.0]
        for y in range(left_j, j + 1):
            whole = first_row[self.target.leftmost[y] - left_j] + self._insert[y]
            first_row.append(min(first_row[-1] + self.weights.insert, whole))
        rows: Table = [first_row]
        for x in range(left_i, i + 1):
            rows.append(self._row(rows, x, j, left_i, left_j))
        return rows

    def _row(self, rows: Table, x: int, j: int, left_i: int, left_j: int) -> list[float]:
        """Return the row of source node x. The innermost loop of all, hence the local names."""
        delete, insert, delete_all = self.weights.delete, self.weights.insert, self._delete[x]
        leftmost, insert_all, relabel, between = (
            self.target.leftmost,
            self._insert,
            self._relabel[x],
            self.between[x],
        )
        above, before = rows[-1], rows[self.source.leftmost[x] - left_i]
        aligned = self.source.leftmost[x] == left_i
        row = [min(above[0] + delete, before[0] + delete_all)]
        for y in range(left_j, j + 1):
            column, start = y - left_j, leftmost[y] - left_j
            best = min(
                above[column + 1] + delete,
                row[column] + insert,
                before[column + 1] + delete_all,
                row[start] + insert_all[y],
            )
            if aligned and not start:
                best = min(best, above[column] + relabel[y])
                between[y] = best
            else:
                best = min(best, before[start] + between[y])
            row.append(best)
        return row


def _relabel_costs(source: Sequence[Node], target: Sequence[Node], weight: float) -> Table:
    labels = [node.label for node in target]
    rows = {
        node.label: [0.0 if node.label == label else weight for label in labels] for node in source
    }
    return [rows[node.label] for node in source]
