"""Partial credit for an answer that does not equal its target: the distance that counts."""

from __future__ import annotations

import sympy

from pytest_llmeval.scoring.eed.metric.alignment import align
from pytest_llmeval.scoring.eed.metric.arrangement import arranged
from pytest_llmeval.scoring.eed.metric.collected import collected
from pytest_llmeval.scoring.eed.metric.distance import (
    PUBLISHED_WEIGHTS,
    TreeDistance,
    Weights,
    least_distance,
)
from pytest_llmeval.scoring.eed.metric.expression import tree
from pytest_llmeval.scoring.eed.metric.normal_form import normal_form
from pytest_llmeval.scoring.eed.metric.symbol_ranks import symbol_ranks
from pytest_llmeval.scoring.eed.metric.tree import Node

_GROWTH = 2  # most nodes of a normal form that is compared, for each node of the formula ...
_SMALL = 40  # ... or so many


def nearest_distance(
    answer: sympy.Basic, target: sympy.Basic, weights: Weights = PUBLISHED_WEIGHTS
) -> TreeDistance:
    """Return the distance between two formulas that counts, with its trees.

    Two formulas are compared as they are written, apart from what sympy evaluates on its own, and
    in their rational normal form. The smaller distance counts, relative to the target's tree.
    Neither the names of symbols nor the order of what commutes influences it.

    Args:
        answer, target: with positive symbols; typed answers are undefined functions such as
            ``Equation(lhs, rhs)`` or ``Set(a, b)``; those of `heads.COMMUTATIVE` have no order.
        weights: costs of the edits.
    """
    written = comparable(collected(tree(answer)), collected(tree(target)))
    nearest = TreeDistance(*written, weights)
    if (normal := _normal_forms(*written)) is None:
        return nearest
    ours, theirs = comparable(*normal)
    if least_distance(ours, theirs, weights) / _size(theirs) >= _relative(nearest):
        return nearest
    return min(nearest, TreeDistance(ours, theirs, weights), key=_relative)


def comparable(answer: Node, target: Node) -> tuple[Node, Node]:
    """Return both trees in an order that does not depend on names, the answer's as the target's."""
    ranks = symbol_ranks(target, answer)
    theirs = arranged(target, ranks)
    return align(arranged(answer, ranks), theirs), theirs


def _normal_forms(answer: Node, target: Node) -> tuple[Node, Node] | None:
    """Return both normal forms, unless there are none, or none to compare."""
    theirs = normal_form(target)
    if theirs is None or _size(theirs) > max(_SMALL, _GROWTH * _size(target)):
        return None
    ours = normal_form(answer)
    if ours is None or _size(ours) > max(_SMALL, _GROWTH * _size(answer), _size(theirs)):
        return None
    return None if (ours, theirs) == (answer, target) else (ours, theirs)


def _relative(distance: TreeDistance) -> float:
    return distance.value / len(distance.target)


def _size(node: Node) -> int:
    return sum(1 for _ in node.walk())
