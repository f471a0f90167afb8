"""The extended tree edit distance and its edit script."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_llmeval.scoring.eed.metric.alignment import align
from pytest_llmeval.scoring.eed.metric.distance import TreeDistance, Weights, published_score
from pytest_llmeval.scoring.eed.metric.edits import edit_script
from pytest_llmeval.scoring.eed.metric.tree import Node, PostOrder


def leaf(name: str) -> Node:
    return Node("symbol", name)


def add(*children: Node) -> Node:
    return Node("operator", "Add", children)


def mul(*children: Node) -> Node:
    return Node("operator", "Mul", children)


A, B, C, D = (leaf(name) for name in "abcd")


@pytest.mark.parametrize(
    ("source", "target", "distance", "script"),
    [
        (add(A, B), add(A, B), 0, []),
        (A, B, 1, ["relabel a -> b at the root"]),
        (add(A, B), mul(A, B), 1, ["relabel Add -> Mul at the root"]),
        (add(A, B), add(A, B, C), 1, ["insert c under Add"]),
        (add(A, B, C), add(A, C), 1, ["delete b under Add"]),
        (add(A, mul(B, C)), add(A, B, C), 1, ["delete Mul under Add"]),
        (A, add(A, B), 2, ["insert b under Add", "insert Add at the root"]),
    ],
)
def test_small_distances_are_those_counted_by_hand(
    source: Node, target: Node, distance: float, script: list[str]
) -> None:
    found = TreeDistance(source, target)
    assert found.value == distance
    assert [str(edit) for edit in edit_script(found)] == script


def test_a_large_subtree_goes_at_a_discount() -> None:
    # mul(...) has 9 nodes: 0.6 * (9 - 5) + 5 = 7.4 instead of 9.
    extra = mul(*(leaf(name) for name in "pqrstuvw"))
    found = TreeDistance(add(A, B, extra), add(A, B))
    assert found.value == pytest.approx(7.4)
    (edit,) = edit_script(found)
    assert (edit.kind, edit.node, edit.under) == ("delete subtree", "p*q*r*s*t*u*v*w", "Add")


@pytest.mark.parametrize(("size", "cost"), [(1, 1), (2, 2), (5, 5), (6, 5.6), (10, 8), (105, 65)])
def test_a_subtree_costs_what_the_paper_says(size: int, cost: float) -> None:
    assert Weights().subtree(size) == pytest.approx(cost)


def test_directions_may_cost_differently() -> None:
    dear_insertions = Weights(insert=3, delete=1)
    assert TreeDistance(add(A, B), add(A, B, C), dear_insertions).value == 3
    assert TreeDistance(add(A, B, C), add(A, B), dear_insertions).value == 1


@pytest.mark.parametrize("wrong", [{"insert": -1}, {"discount": -0.1}, {"free": 0}])
def test_weights_that_make_no_distance_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="Weights"):
        Weights(**wrong)


@pytest.mark.parametrize(
    ("distance", "size", "score"),
    [(0, 7, 100), (1, 10, 50), (3, 10, 30), (5.9, 10, 1), (6, 10, 0), (99, 10, 0), (0.5, 1, 10)],
)
def test_the_published_score_falls_from_60_to_0(distance: float, size: int, score: float) -> None:
    assert published_score(distance, size) == pytest.approx(score)


def test_the_tree_is_numbered_in_post_order() -> None:
    tree = PostOrder.of(add(A, mul(B, C)))
    assert [node.text for node in tree.nodes] == ["a", "b", "c", "Mul", "Add"]
    assert tree.leftmost == (0, 1, 2, 1, 0)
    assert tree.parents == (4, 3, 3, 4, -1)
    assert tree.keyroots == [2, 3, 4]


@pytest.mark.parametrize(
    ("answer", "target", "aligned"),
    [
        (mul(B, C, D, leaf("z")), mul(A, B, C, D), mul(leaf("z"), B, C, D)),
        (add(C, A), add(A, B, C), add(A, C)),
        (add(A, mul(B, C)), add(mul(C, D), A), add(mul(C, B), A)),
        (mul(D, add(B, A)), add(A, B), mul(D, add(A, B))),
        (Node("operator", "Pow", (add(B, A), C)), Node("operator", "Pow", (add(A, B), D)),
         Node("operator", "Pow", (add(A, B), C))),
        (Node("operator", "Pow", (A, B)), Node("operator", "Pow", (B, A)),
         Node("operator", "Pow", (A, B))),
    ],
)  # fmt: skip
def test_commutative_arguments_are_put_into_the_targets_order(
    answer: Node, target: Node, aligned: Node
) -> None:
    assert align(answer, target) == aligned
