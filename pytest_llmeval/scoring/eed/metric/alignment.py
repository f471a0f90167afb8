"""Alignment of commutative arguments before trees are compared.

sympy sorts the arguments of a sum or product by name, so a renamed symbol moves to another place
and costs a deletion and an insertion. Here the answer's arguments are put into the target's order:
equal arguments are paired first, then the most similar ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_llmeval.scoring.eed.metric.heads import COMMUTATIVE
from pytest_llmeval.scoring.eed.metric.tree import Kind, Node

_MOST_PAIRS = 4_000  # of children compared in one node; beyond it only equal ones are paired

_Labels = Counter[tuple[Kind, str]]


def align(answer: Node, target: Node) -> Node:
    """Return the answer's tree with its commutative arguments in the target's order."""
    if answer == target:
        return answer
    if answer.label != target.label:
        return _align_across_levels(answer, target)
    if answer.label not in COMMUTATIVE:
        pairs = zip(answer.children, target.children, strict=False)
        rest = answer.children[len(target.children) :]
        return _with_children(answer, [*(align(ours, theirs) for ours, theirs in pairs), *rest])
    partners = _partners(answer.children, target.children)
    ordered = [align(answer.children[partners[j]], target.children[j]) for j in sorted(partners)]
    paired = set(partners.values())
    rest = tuple(child for i, child in enumerate(answer.children) if i not in paired)
    return _with_children(answer, [*ordered, *rest])


def _with_children(node: Node, children: Sequence[Node]) -> Node:
    return Node(node.kind, node.text, tuple(children))


def _align_across_levels(answer: Node, target: Node) -> Node:
    """Align trees of which one is a level deeper, as by a factor or sign before the whole."""
    for i, child in enumerate(answer.children):
        if child.children and child.label == target.label:
            children = [*answer.children[:i], align(child, target), *answer.children[i + 1 :]]
            return _with_children(answer, children)
    for child in target.children:
        if child.children and child.label == answer.label:
            return align(answer, child)
    return answer


def _partners(ours: Sequence[Node], theirs: Sequence[Node]) -> dict[int, int]:
    """Return pairs of children: index in the target -> index in the answer."""
    places: dict[Node, list[int]] = {}
    for i in reversed(range(len(ours))):
        places.setdefault(ours[i], []).append(i)
    partners = {j: places[node].pop() for j, node in enumerate(theirs) if places.get(node)}
    taken = set(partners.values())
    open_ours = [i for i in range(len(ours)) if i not in taken]
    open_theirs = [j for j in range(len(theirs)) if j not in partners]
    if len(open_ours) * len(open_theirs) <= _MOST_PAIRS:
        _pair_similar(ours, theirs, open_ours, open_theirs, partners)
    return partners


def _pair_similar(
    ours: Sequence[Node],
    theirs: Sequence[Node],
    open_ours: list[int],
    open_theirs: list[int],
    partners: dict[int, int],
) -> None:
    """Add pairs of unpaired children, the most similar first, to `partners`."""
    our_labels = {i: _labels(ours[i]) for i in open_ours}
    their_labels = {j: _labels(theirs[j]) for j in open_theirs}
    ranked = sorted(
        (_dissimilarity(our_labels[i], their_labels[j]), ours[i].label != theirs[j].label, j, i)
        for i in open_ours
        for j in open_theirs
    )
    taken: set[int] = set()
    for _cost, _other, j, i in ranked:
        if j not in partners and i not in taken:
            partners[j] = i
            taken.add(i)


def _labels(node: Node) -> _Labels:
    return Counter(below.label for below in node.walk())


def _dissimilarity(one: _Labels, other: _Labels) -> float:
    """Return the share of labels on one side only: 0 for equal labels, 1 for none in common."""
    return 1 - 2 * (one & other).total() / (one.total() + other.total())
