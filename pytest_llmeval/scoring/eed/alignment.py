"""Ordering commutative arguments so that trees are compared like with like.

sympy sorts the arguments of a sum or product by name, so one renamed symbol moves to another place
and costs a deletion and an insertion. Here the answer's arguments follow the target's order: equal
ones first, then the most alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_llmeval.scoring.eed.tree import Kind, Node

_COMMUTATIVE = frozenset(
    {("operator", "Add"), ("operator", "Mul"), ("function", "Max"), ("function", "Min")}
)
_MOST_PAIRS = 4_000  # of children to compare in one node; beyond it only equal ones are paired

_Bag = Counter[tuple[Kind, str]]


def follow(answer: Node, target: Node) -> Node:
    """Return the answer's tree with commutative arguments in the order that suits the target best."""
    if answer == target:
        return answer
    if answer.label != target.label:
        return _follow_across_levels(answer, target)
    if answer.label not in _COMMUTATIVE:
        pairs = zip(answer.children, target.children, strict=False)
        rest = answer.children[len(target.children) :]
        return _with_children(answer, [*(follow(mine, theirs) for mine, theirs in pairs), *rest])
    partners = _partners(answer.children, target.children)
    ordered = [follow(answer.children[partners[j]], target.children[j]) for j in sorted(partners)]
    paired = set(partners.values())
    rest = tuple(child for i, child in enumerate(answer.children) if i not in paired)
    return _with_children(answer, [*ordered, *rest])


def _with_children(node: Node, children: Sequence[Node]) -> Node:
    return Node(node.kind, node.text, tuple(children))


def _follow_across_levels(answer: Node, target: Node) -> Node:
    """Follow where one side stands a level deeper: a factor or a sign in front of the whole."""
    for i, child in enumerate(answer.children):
        if child.children and child.label == target.label:
            children = [*answer.children[:i], follow(child, target), *answer.children[i + 1 :]]
            return _with_children(answer, children)
    for child in target.children:
        if child.children and child.label == answer.label:
            return follow(answer, child)
    return answer


def _partners(mine: Sequence[Node], theirs: Sequence[Node]) -> dict[int, int]:
    """Pair children: position in the target's -> position in the answer's."""
    places: dict[Node, list[int]] = {}
    for i in reversed(range(len(mine))):
        places.setdefault(mine[i], []).append(i)
    partners = {j: places[node].pop() for j, node in enumerate(theirs) if places.get(node)}
    taken = set(partners.values())
    open_mine = [i for i in range(len(mine)) if i not in taken]
    open_theirs = [j for j in range(len(theirs)) if j not in partners]
    if len(open_mine) * len(open_theirs) <= _MOST_PAIRS:
        _pair_alike(mine, theirs, open_mine, open_theirs, partners)
    return partners


def _pair_alike(
    mine: Sequence[Node],
    theirs: Sequence[Node],
    open_mine: list[int],
    open_theirs: list[int],
    partners: dict[int, int],
) -> None:
    bags = {i: _bag(mine[i]) for i in open_mine}
    goals = {j: _bag(theirs[j]) for j in open_theirs}
    ranked = sorted(
        (_unlike(bags[i], goals[j]), mine[i].label != theirs[j].label, j, i)
        for i in open_mine
        for j in open_theirs
    )
    taken: set[int] = set()
    for _cost, _other, j, i in ranked:
        if j not in partners and i not in taken:
            partners[j] = i
            taken.add(i)


def _bag(node: Node) -> _Bag:
    return Counter(below.label for below in node.walk())


def _unlike(one: _Bag, other: _Bag) -> float:
    """Return the share of labels that only one side has: 0 for the same labels, 1 for none in common."""
    return 1 - 2 * (one & other).total() / (one.total() + other.total())
