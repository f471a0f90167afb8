"""Partial credit for an answer that does not equal its target: the distance that counts."""

from __future__ import annotations

from collections import Counter

import sympy

from pytest_llmeval.scoring.eed.metric.alignment import align
from pytest_llmeval.scoring.eed.metric.arrangement import arranged
from pytest_llmeval.scoring.eed.metric.distance import PUBLISHED_WEIGHTS, TreeDistance, Weights
from pytest_llmeval.scoring.eed.metric.expression import tree
from pytest_llmeval.scoring.eed.metric.normal_form import normal_form
from pytest_llmeval.scoring.eed.metric.symbol_ranks import symbol_ranks
from pytest_llmeval.scoring.eed.metric.tree import Label, Node

_GROWTH = 2  # of a formula in the normal form, in nodes; a larger normal form is not compared


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
    written = tree(answer), tree(target)
    nearest = TreeDistance(*comparable(*written), weights)
    normal = _normal_forms(*written)
    if normal is None or _lower_bound(*normal, weights) >= _relative(nearest):
        return nearest
    return min(nearest, TreeDistance(*comparable(*normal), weights), key=_relative)


def comparable(answer: Node, target: Node) -> tuple[Node, Node]:
    """Return both trees in an order that does not depend on names, the answer's as the target's."""
    ranks = symbol_ranks(target, answer)
    theirs = arranged(target, ranks)
    return align(arranged(answer, ranks), theirs), theirs


def _normal_forms(answer: Node, target: Node) -> tuple[Node, Node] | None:
    """Return both normal forms, unless there are none, or none to compare."""
    theirs = normal_form(target)
    if theirs is None or _size(theirs) > _GROWTH * _size(target):
        return None
    ours = normal_form(answer)
    if ours is None or _size(ours) > _GROWTH * max(_size(answer), _size(theirs)):
        return None
    return None if (ours, theirs) == (answer, target) else (ours, theirs)


def _relative(distance: TreeDistance) -> float:
    return distance.value / len(distance.target)


def _lower_bound(answer: Node, target: Node, weights: Weights) -> float:
    """Return a relative distance that is not above the true one: labels without a partner."""
    ours, theirs = _labels(answer), _labels(target)
    most = max((ours - theirs).total(), (theirs - ours).total())
    cost = weights.subtree(most) if most else 0.0
    return min(weights.insert, weights.delete, weights.relabel) * cost / theirs.total()


def _labels(node: Node) -> Counter[Label]:
    return Counter(below.label for below in node.walk())


def _size(node: Node) -> int:
    return sum(1 for _ in node.walk())
