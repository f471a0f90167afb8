"""Symbols are ranked by their positions, whatever their names."""

from __future__ import annotations

import re

import pytest
import sympy

from pytest_llmeval.scoring.eed.metric.expression import tree
from pytest_llmeval.scoring.eed.metric.symbol_ranks import symbol_ranks

OTHER_NAMES = dict(zip("abcd", "dbac", strict=True))


def order(target: str, answer: str) -> str:
    """Return the symbols of two formulas in the order of their ranks."""
    symbols = {name: sympy.Symbol(name, positive=True) for name in "abcd"}
    trees = (tree(sympy.sympify(text, locals=symbols)) for text in (target, answer))
    ranks = symbol_ranks(*trees)
    return "".join(sorted(ranks, key=lambda name: ranks[name]))


def renamed(text: str) -> str:
    return re.sub(r"\b[abcd]\b", lambda found: OTHER_NAMES[found[0]], text)


@pytest.mark.parametrize(
    ("target", "answer"),
    [
        ("a/b - c**d", "a"),
        ("(a + b**2)*(c + d**3)", "a"),
        ("a*b", "a**2*b**3"),  # only the answer distinguishes a and b
        ("a*b**2", "a + b + c**2 + d**3"),
        ("a*b*c*d", "a/b - c**d"),
        ("c*sin(a - b)", "a"),  # sympy writes -sin(b - a) where b comes first
        ("cos(a - b) + c", "a + c**2"),
        ("Abs(a - b)*exp(c - d)", "a"),
    ],
)
def test_under_other_names_symbols_have_the_same_ranks(target: str, answer: str) -> None:
    under_other_names = order(renamed(target), renamed(answer))
    assert under_other_names == "".join(OTHER_NAMES[name] for name in order(target, answer))


def test_symbols_with_equal_positions_are_ordered_by_name() -> None:
    assert order("a*b", "c + d") == order("b*a", "d + c") == "abcd"


def test_a_target_has_the_same_ranks_for_every_answer() -> None:
    orders = [order("(a - b)/c**2", answer) for answer in ("c", "a**b + d", "b - a")]
    assert {found[:3] for found in orders} == {orders[0][:3]}
