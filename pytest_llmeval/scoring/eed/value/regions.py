"""Equality of regions: conditions that hold at the same points."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise, product

import sympy

from pytest_llmeval.scoring.eed.reader.answer import (
    Answer,
    Assignment,
    Collection,
    Expression,
    Region,
)
from pytest_llmeval.scoring.eed.reader.conditions import RELATIONS, VARIABLE, interval
from pytest_llmeval.scoring.eed.reader.symbols import opaque
from pytest_llmeval.scoring.eed.value.equations import same_solutions
from pytest_llmeval.scoring.eed.value.evaluation import MP, NO_VALUE, Evaluation, Value, real_value
from pytest_llmeval.scoring.eed.value.values import Values

_POINTS = 4  # draws of the values of all other symbols
_MOST_PAIRED = 8  # ends of which sums and differences are tested, as in |x - a| < b
_FIXED = (-7, -3, -2, -1, 0, 1, 2, 3, 7)
_STEP = MP.mpf(10) ** -6  # relative distance of a test point from an end


def region_of(answer: Answer) -> Region | None:
    """Return an answer as a region: a pair in brackets is an interval, a set its members."""
    match answer:
        case Region():
            return answer
        case Assignment(value=value):
            return region_of(value)
        case Collection(kind="tuple" | "list" as kind, members=(Expression(), Expression())):
            low, high = (member.form for member in answer.members)
            closed = kind == "list"
            condition = interval(low, high, VARIABLE, closed_left=closed, closed_right=closed)
        case Collection(kind="set"):
            equal = (opaque("Same", VARIABLE, member.form) for member in answer.members)
            condition = opaque("Any", *equal)
        case Collection(kind="several"):
            parts = [region_of(member) for member in answer.members]
            solved = [part.condition for part in parts if part is not None and part.solved]
            if len(solved) < len(parts):
                return None
            condition = opaque("Any" if answer.alternatives else "All", *solved)
        case _:
            return None
    return Region(condition=condition, solved=True)


def same_regions(one: Region, other: Region, values: Values) -> bool:
    """Return whether two regions have the same members.

    Unsolved inequalities are the same if their sides differ by a positive factor only.
    """
    if one.solved and other.solved:
        return _same_members(one.condition, other.condition)
    if one.solved == other.solved:
        return _same_inequality(one.condition, other.condition, values)
    solved, unsolved = (one, other) if one.solved else (other, one)
    names = [item for item in unsolved.condition.free_symbols if str(item) == solved.name]
    if not names:
        return False
    return _same_members(solved.condition, unsolved.condition.subs(names[0], VARIABLE))


def _same_inequality(one: sympy.Expr, other: sympy.Expr, values: Values) -> bool:
    if one == other:
        return True
    if type(one).__name__ != type(other).__name__ or len(one.args) != len(other.args):
        return False
    pairs = zip(one.args, other.args, strict=True)
    if type(one).__name__ in ("All", "Any"):
        return all(_same_inequality(ours, theirs, values) for ours, theirs in pairs)
    if len(one.args) != 2:  # noqa: PLR2004 - two sides
        return False
    ours, theirs = one.args[0] - one.args[1], other.args[0] - other.args[1]
    return same_solutions(ours, theirs, values.same, positive_factor=True)


def _same_members(one: sympy.Expr, other: sympy.Expr) -> bool:
    """Return whether two conditions hold for the same values of VARIABLE.

    They are evaluated at the ends of both, close to them on either side, between them and beyond,
    for several values of the other symbols.
    """
    if one == other:
        return True
    names = sorted(
        (item for item in one.free_symbols | other.free_symbols if item != VARIABLE), key=str
    )
    tested = 0
    for number in range(_POINTS):
        source = random.Random(f"{number}")  # noqa: S311 - reproducible on purpose
        point = {name.name: MP.mpf(source.uniform(0.3, 3.0)) for name in names}
        for value in _test_values(one, other, point):
            here = {**point, VARIABLE.name: value}
            try:
                inside = Evaluation(here).of(one)[0], Evaluation(here).of(other)[0]
            except NO_VALUE:
                continue
            if not all(isinstance(decided, bool) for decided in inside):
                return False  # a relation without values, such as "much smaller"
            if inside[0] != inside[1]:
                return False
            tested += 1
    return tested >= _POINTS


def _test_values(one: sympy.Expr, other: sympy.Expr, point: dict[str, Value]) -> list[Value]:
    """Return the values of VARIABLE at which two conditions could differ."""
    ends = list(dict.fromkeys([*_ends(one, point), *_ends(other, point)]))
    derived = [MP.mpf(fixed) for fixed in _FIXED]
    for end in ends:
        derived += [end, -end, MP.sqrt(abs(end)), -MP.sqrt(abs(end))]
    paired = ends[:_MOST_PAIRED]
    derived += [a + sign * b for a, b in product(paired, paired) for sign in (1, -1)]
    whole = sorted(set(derived))
    between = [(a + b) / 2 for a, b in pairwise(whole)]
    near = [value + side * _STEP * max(1, abs(value)) for value in whole for side in (-1, 1)]
    return [*whole, *between, *near]


def _ends(condition: sympy.Expr, point: dict[str, Value]) -> Iterator[Value]:
    """Yield the values of the sides of relations that do not hold VARIABLE."""
    for relation in sympy.preorder_traversal(condition):
        if type(relation).__name__ not in RELATIONS:
            continue
        for side in relation.args:
            if not side.has(VARIABLE) and (value := real_value(side, point)) is not None:
                yield value
