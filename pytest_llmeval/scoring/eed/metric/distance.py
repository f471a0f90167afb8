"""The extended tree edit distance: that of Zhang and Shasha, with a discount for subtrees.

Source: the PHYBench paper (arXiv 2504.16074) for the subtree moves; K. Zhang and D. Shasha, SIAM J.
Comput. 18 (1989).
"""

from __future__ import annotations

import math
from collections import Counter
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
        between: distance of each subtree of the source from each of the target, by their indices;
            infinite where it cannot be part of the distance between the whole trees.
    """

    def __init__(self, source: Node, target: Node, weights: Weights = PUBLISHED_WEIGHTS) -> None:
        """Compute the distance from `source` to `target`; O(n m) space.

        First a small distance is looked for, then larger ones: two nodes can only correspond if the
        nodes before them, and those behind, differ in number by no more than the distance allows.
        """
        self.source, self.target = PostOrder.of(source), PostOrder.of(target)
        self.weights = weights
        self._delete = _subtree_costs(self.source, weights.delete, weights)
        self._insert = _subtree_costs(self.target, weights.insert, weights)
        self._relabel = _relabel_costs(self.source.nodes, self.target.nodes, weights.relabel)
        self._columns: dict[int, list[tuple[int, int, float]]] = {}
        self._first_rows: dict[int, list[float]] = {}
        self.between: Table = []
        self._shifts = range(0)
        limit = least_distance(source, target, weights)
        while True:
            self._shifts = self._possible_shifts(limit)
            self._fill()
            if self.value <= limit:
                break
            limit = self.value

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

    def _possible_shifts(self, limit: float) -> range:
        """Return the differences x - y for which x may correspond to y at a cost up to `limit`."""
        n, m, weights = len(self.source), len(self.target), self.weights
        first, last = min(0, n - m), max(0, n - m)
        while (
            first > -m
            and _excess_cost(first - 1, weights) + _excess_cost(n - m - first + 1, weights) <= limit
        ):
            first -= 1
        while (
            last < n
            and _excess_cost(last + 1, weights) + _excess_cost(last + 1 - n + m, weights) <= limit
        ):
            last += 1
        return range(first, last + 1)

    def _fill(self) -> None:
        """Compute `between` as far as the possible shifts go."""
        self.between = [[math.inf] * len(self.target) for _ in self.source.nodes]
        lowest, highest = self._shifts.start, self._shifts.stop - 1
        columns = [(j, self.target.leftmost[j]) for j in self.target.keyroots]
        for i in self.source.keyroots:
            left = self.source.leftmost[i]
            for j, other_left in columns:
                if i - other_left < lowest or left - j > highest:
                    continue
                if left == i and other_left == j:  # two leaves
                    self.between[i][j] = min(self._relabel[i][j], self._delete[i] + self._insert[j])
                else:
                    self.forest(i, j)

    def forest(self, i: int, j: int) -> Table:
        """Return the forest table of the subtrees at i and j.

        Entry [x][y] is the distance between the first x nodes of the one subtree and the first y of
        the other; row and column 0 stand for the empty forest. Distances between whole subtrees are
        stored in `between`.
        """
        left_i, left_j = self.source.leftmost[i], self.target.leftmost[j]
        if j not in self._columns:
            starts = [leaf - left_j for leaf in self.target.leftmost[left_j : j + 1]]
            costs = self._insert[left_j : j + 1]
            self._columns[j] = [*zip(range(left_j, j + 1), starts, costs, strict=True)]
            row = self._first_rows[j] = [0.0]
            for _, start, whole in self._columns[j]:
                row.append(min(row[-1] + self.weights.insert, row[start] + whole))
        rows: Table = [self._first_rows[j]]
        nothing = [math.inf] * len(rows[0])
        lowest, highest = left_j - 1 + self._shifts.start, j + self._shifts.stop
        for x in range(left_i, i + 1):
            rows.append(self._row(rows, x, j, left_i, left_j) if lowest <= x < highest else nothing)
        return rows

    def _row(self, rows: Table, x: int, j: int, left_i: int, left_j: int) -> list[float]:
        """Return the row of source node x. Nearly all the time of a distance goes by in this loop.

        Comparisons are several times faster than `min`.
        """
        delete, insert, delete_all = self.weights.delete, self.weights.insert, self._delete[x]
        relabel, between, leaf = self._relabel[x], self.between[x], self.source.leftmost[x]
        above, before, aligned = rows[-1], rows[leaf - left_i], leaf == left_i
        row = [math.inf] * len(above)
        column = x - left_j + 2 - self._shifts.stop
        end = x - left_j + 2 - self._shifts.start
        if column <= 0:
            row[0] = min(above[0] + delete, before[0] + delete_all)
            column = 1
        best = row[column - 1]
        for y, start, insert_all in self._columns[j][column - 1 : end - 1]:
            best += insert
            if (cost := above[column] + delete) < best:
                best = cost
            if (cost := before[column] + delete_all) < best:
                best = cost
            if (cost := row[start] + insert_all) < best:
                best = cost
            if aligned and not start:
                if (cost := above[column - 1] + relabel[y]) < best:
                    best = cost
                between[y] = best
            elif (cost := before[start] + between[y]) < best:
                best = cost
            row[column] = best
            column += 1
        return row


def least_distance(source: Node, target: Node, weights: Weights) -> float:
    """Return a lower bound of the distance, from the labels that only one of the trees has."""
    ours, theirs = (Counter(node.label for node in tree.walk()) for tree in (source, target))
    most = max((ours - theirs).total(), (theirs - ours).total())
    cheapest = min(weights.insert, weights.delete, weights.relabel)
    alone = cheapest * weights.subtree(most) if most else 0.0
    return max(alone, _excess_cost(ours.total() - theirs.total(), weights))


def _excess_cost(count: int, weights: Weights) -> float:
    """Return the least cost of that many nodes more on one side than on the other."""
    return min(weights.insert, weights.delete) * weights.subtree(abs(count)) if count else 0.0


def _subtree_costs(tree: PostOrder, weight: float, weights: Weights) -> list[float]:
    sizes = [index - leaf + 1 for index, leaf in enumerate(tree.leftmost)]
    costs = {size: weight * weights.subtree(size) for size in set(sizes)}
    return [costs[size] for size in sizes]


def _relabel_costs(source: Sequence[Node], target: Sequence[Node], weight: float) -> Table:
    labels = [node.label for node in target]
    rows = {
        label: [0.0 if label == other else weight for other in labels]
        for label in {node.label for node in source}
    }
    return [rows[node.label] for node in source]
