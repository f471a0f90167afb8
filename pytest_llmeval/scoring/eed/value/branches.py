"""Points on every branch of a function given by cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import sympy

from pytest_llmeval.scoring.eed.reader.conditions import RELATIONS
from pytest_llmeval.scoring.eed.value.evaluation import Value, real_value

_BEYOND = 3  # how far beyond the outermost ends a point lies

Point = dict[str, Value]


def branch_points(formulas: Sequence[sympy.Basic], base: Point) -> Iterator[tuple[Point, bool]]:
    """Yield points at, between and beyond the ends of the cases' conditions.

    With each comes whether it is an end, where a case may be left out. One symbol is moved at a
    time.

    Args:
        formulas: expressions with cases.
        base: values of all symbols, kept for all but the one that is moved.
    """
    for name, ends in _ends(formulas, base).items():
        inner = sorted(set(ends))
        yield from (({**base, name: value}, True) for value in inner)
        between = [(a + b) / 2 for a, b in pairwise(inner)]
        for value in (inner[0] - _BEYOND, *between, inner[-1] + _BEYOND):
            yield {**base, name: value}, False


def _ends(formulas: Sequence[sympy.Basic], base: Point) -> dict[str, list[Value]]:
    """Return for each symbol that a condition compares the values that it is compared with."""
    ends: dict[str, list[Value]] = {}
    for formula in formulas:
        for relation in sympy.preorder_traversal(formula):
            if type(relation).__name__ not in RELATIONS:
                continue
            for side, other in (relation.args, relation.args[::-1]):
                name = side.args[0] if isinstance(side, sympy.Abs) else side
                value = real_value(other, base)
                if isinstance(name, sympy.Symbol) and value is not None:
                    ends.setdefault(name.name, []).extend(
                        [value, -value] if isinstance(side, sympy.Abs) else [value]
                    )
    return ends
