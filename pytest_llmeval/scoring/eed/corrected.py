"""The corrected mode: typed answers, equality by value, trees independent of symbols' names."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import sympy

from pytest_llmeval.scoring.eed.metric.alignment import align
from pytest_llmeval.scoring.eed.metric.expression import tree
from pytest_llmeval.scoring.eed.metric.numbering import symbol_numbers
from pytest_llmeval.scoring.eed.metric.tree import Node
from pytest_llmeval.scoring.eed.time_limit import TimeLimit, TimeLimitExpired

SIMPLIFY_SECONDS = 10.0

_CACHED_TARGETS = 256


@lru_cache(maxsize=_CACHED_TARGETS)
def simplified(expression: sympy.Expr, time_limit: TimeLimit) -> sympy.Expr:
    """Return the expression simplified; unchanged when that takes too long."""
    try:
        with time_limit(SIMPLIFY_SECONDS):
            return sympy.simplify(expression)
    except TimeLimitExpired:
        sympy.core.cache.clear_cache()
        return expression


class SimplifiedPair(NamedTuple):
    """Both formulas simplified, with numbered symbols, and the original symbol of each."""

    answer: sympy.Expr
    target: sympy.Expr
    symbols: dict[sympy.Symbol, sympy.Symbol]


def simplified_pair(
    answer: sympy.Expr, target: sympy.Expr, time_limit: TimeLimit
) -> SimplifiedPair:
    """Return both formulas as they are compared, independent of the names of their symbols."""
    numbers = symbol_numbers(target, answer)
    return SimplifiedPair(
        simplified(answer.xreplace(numbers), time_limit),
        simplified(target.xreplace(numbers), time_limit),
        {number: item for item, number in numbers.items()},
    )


def trees(answer: sympy.Expr, target: sympy.Expr, time_limit: TimeLimit) -> tuple[Node, Node]:
    """Return the trees of answer and target, the answer's arguments in the target's order."""
    pair = simplified_pair(answer, target, time_limit)
    names = {number.name: item.name for number, item in pair.symbols.items()}
    target_tree = tree(pair.target)
    return align(tree(pair.answer), target_tree).renamed(names), target_tree.renamed(names)
