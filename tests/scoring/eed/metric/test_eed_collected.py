"""Products whose factors with the same base, up to its sign, are one power."""

from __future__ import annotations

import pytest
import sympy

from pytest_llmeval.scoring.eed.metric.collected import collected
from pytest_llmeval.scoring.eed.metric.expression import tree
from pytest_llmeval.scoring.eed.metric.tree import Node

A, B, C = sympy.symbols("a b c", positive=True)
LEFT = sympy.sin(A - B)


def product(*factors: sympy.Expr) -> Node:
    return tree(sympy.Mul(*factors, evaluate=False))


@pytest.mark.parametrize(
    ("factors", "one"),
    [
        ([A - B, B - A], -((A - B) ** 2)),
        ([(A - B) ** 2, (B - A) ** 2], (A - B) ** 4),
        ([C, (A - B) ** 3, B - A], -C * (A - B) ** 4),
        ([sympy.sqrt(LEFT), LEFT], LEFT ** sympy.Rational(3, 2)),
        ([A - B, 1 / (B - A)], sympy.Integer(-1)),
        ([sympy.Integer(3), A - B, B - A], -3 * (A - B) ** 2),
    ],
)
def test_factors_of_one_base_become_one_power(factors: list[sympy.Expr], one: sympy.Expr) -> None:
    found = collected(product(*factors))
    assert found.label == collected(tree(one)).label
    assert sorted(map(str, found.walk())) == sorted(map(str, collected(tree(one)).walk()))


@pytest.mark.parametrize(
    "factors",
    [
        [sympy.sqrt(LEFT), sympy.sqrt(sympy.sin(B - A))],
        [A - B, A - C],
        [A, B, C],
        [(A - B) ** C, A - B],
    ],
    ids=str,
)
def test_roots_of_either_sign_and_other_bases_stay(factors: list[sympy.Expr]) -> None:
    assert collected(product(*factors)) == product(*factors)


def test_products_within_products_and_functions_are_collected_too() -> None:
    inner = sympy.Mul(A - B, B - A, evaluate=False)
    found = collected(tree(sympy.cos(C + inner, evaluate=False)))
    assert ("number", "2") in [node.label for node in found.walk()]
