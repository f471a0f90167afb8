"""Equality of sets, tuples and several answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import sympy

from pytest_llmeval.scoring.eed.reader.answer import (
    Answer,
    Assignment,
    Chain,
    Collection,
    Expression,
    replaced,
)
from pytest_llmeval.scoring.eed.reader.symbols import MATRIX, renamed

Equal: TypeAlias = Callable[[Answer, Answer], bool]
_Named: TypeAlias = tuple[str, Answer]


def states_one(answer: Collection, target: Answer, equal: Equal) -> bool:
    """Return whether several answers state the one that the target asks for.

    The first one counts if all are values of different names; a name that the target has decides.
    Offering two values for one thing never counts.
    """
    if answer.kind != "several":
        return False
    members = answer.members
    names = [member.name for member in members if isinstance(member, Assignment | Chain)]
    named = len(names) == len(members) and len(set(names)) == len(names) and "" not in names
    if not named or answer.alternatives:
        return all(equal(member, target) for member in members)
    wanted = target.name if isinstance(target, Assignment | Chain) else ""
    chosen = members[names.index(wanted) if wanted in names else 0]
    if equal(chosen, target):
        return True
    defined = dict(_definitions(member for member in members if member is not chosen))
    return bool(defined) and equal(replaced(chosen, defined), replaced(target, defined))


def _definitions(members: Iterable[Answer]) -> Iterator[tuple[sympy.Expr, sympy.Basic]]:
    """Yield the names that assignments define, with their values."""
    for member in members:
        if isinstance(member, Assignment) and isinstance(member.value, Expression):
            value = member.value
            if member.symbol is not None and value.unit is None:
                yield member.symbol, value.value


def same_collection(answer: Answer, target: Collection, equal: Equal) -> bool:
    """Return whether an answer holds the members of the target: every one, and no other.

    Sets and alternatives have no order; answers with the same names are compared by name; others
    in their order. A column of a matrix is the tuple of its entries.
    """
    match answer:
        case Assignment(value=value):
            return same_collection(value, target, equal)
        case Chain(members=members):
            return any(same_collection(member, target, equal) for member in members)
        case Expression():
            entries = components(answer)
            return entries is not None and _same(entries, target, equal)
        case Collection():
            return _same(answer, target, equal)
    return False


def _same(answer: Collection, target: Collection, equal: Equal) -> bool:
    kinds = {answer.kind, target.kind}
    if "several" not in kinds and len(kinds) > 1:
        return False
    ours, theirs = list(_items(answer)), list(_items(target))
    if _are_quantities(ours) != _are_quantities(theirs) and "tuple" not in kinds:
        ordered = _has_order(answer, ours) and _has_order(target, theirs)
        if not ordered:
            return False  # values of different names are no alternatives
    if not (_has_order(answer, ours) and _has_order(target, theirs)):
        return _same_members(ours, theirs, equal)
    names, their_names = [name for name, _ in ours], [name for name, _ in theirs]
    if sorted(names) == sorted(their_names) and all(names):
        by_name = dict(ours)
        return all(equal(by_name[name], value) for name, value in theirs)
    if kinds == {"several"} and _one_letter(names) and _one_letter(their_names):
        return len(ours) == len(theirs) and _matched(ours, theirs, equal)
    return len(ours) == len(theirs) and all(
        equal(one[1], other[1]) for one, other in zip(ours, theirs, strict=True)
    )


def _same_members(ours: Sequence[_Named], theirs: Sequence[_Named], equal: Equal) -> bool:
    """Return whether each member of either side is a member of the other."""
    found = [[equal(one, other) for _, other in theirs] for _, one in ours]
    return all(any(row) for row in found) and all(
        any(row[place] for row in found) for place in range(len(theirs))
    )


def _matched(ours: Sequence[_Named], theirs: Sequence[_Named], equal: Equal) -> bool:
    """Return whether the members are equal in some order, each as often on either side."""
    left = [value for _, value in theirs]
    for _, one in ours:
        place = next((k for k, other in enumerate(left) if equal(one, other)), None)
        if place is None:
            return False
        del left[place]
    return not left


def components(answer: Expression) -> Collection | None:
    """Return a vector as the tuple of its components; None for another value.

    A vector is a column of a matrix, or a sum of multiples of the unit vectors i, j, k or x, y, z.
    """
    value = answer.value
    if isinstance(value, MATRIX):
        return _tuple(value) if value.cols == 1 else None
    for letters in ("ijk", "xyz"):
        units = [item for item in value.free_symbols if item.name[4:-1] in set(letters)]
        if units and all(item.name == f"hat{{{item.name[4:-1]}}}" for item in units):
            expanded = sympy.expand(value)
            axes = [renamed(units[0], f"hat{{{letter}}}") for letter in letters]
            entries = [expanded.coeff(axis) for axis in axes]
            rest = expanded - sympy.Add(*(a * b for a, b in zip(entries, axes, strict=True)))
            last = 2 if entries[2] == 0 else 3
            return _tuple(entries[:last]) if sympy.expand(rest) == 0 else None
    return None


def _tuple(entries: Iterable[sympy.Expr]) -> Collection:
    return Collection(kind="tuple", members=tuple(Expression(value=entry) for entry in entries))


def _items(collection: Collection) -> Iterator[_Named]:
    """Yield name and value of each member; a name before several values is that of each."""
    for member in collection.members:
        if isinstance(member, Assignment):
            inner = member.value
            if isinstance(inner, Collection) and inner.kind == "several":
                yield from ((member.name, value) for _, value in _items(inner))
            else:
                yield member.name, inner
        elif isinstance(member, Collection) and member.kind == "several":
            yield from _items(member)
        else:
            yield (member.name if isinstance(member, Chain) else ""), member


def _has_order(collection: Collection, items: Sequence[_Named]) -> bool:
    """Return whether the order of the members, or their names, matter."""
    if collection.kind == "set" or collection.alternatives:
        return False
    names = [name for name, _ in items if name]
    return collection.kind != "several" or len(set(names)) == len(names)


def _are_quantities(items: Sequence[_Named]) -> bool:
    """Return whether members are values of different quantities, as in ``a = 1, b = 2``."""
    return len(items) > 1 and all(name for name, _ in items) and not _one_letter([*dict(items)])


def _one_letter(names: Sequence[str]) -> bool:
    """Return whether names are one letter with different indices, or are missing."""
    return len({name.partition("_")[0] for name in names if name}) <= 1
