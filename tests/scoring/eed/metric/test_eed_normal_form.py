"""The rational normal form: of equal value, the same for other writings, and never large."""

from __future__ import annotations

import random
import re

import pytest
import sympy
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pytest_llmeval.scoring.eed.metric.comparison import comparable, nearest_distance
from pytest_llmeval.scoring.eed.metric.distance import TreeDistance
from pytest_llmeval.scoring.eed.metric.expression import tree
from pytest_llmeval.scoring.eed.metric.normal_form import normal_form
from pytest_llmeval.scoring.eed.metric.tree import Node

QUICK = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
SYMBOLS = sympy.symbols("a b c x", positive=True)

atoms = st.one_of(st.sampled_from(SYMBOLS), st.integers(1, 4).map(sympy.Integer))
rational = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds(lambda one, other: one + other, inner, inner),
        st.builds(lambda one, other: one - other, inner, inner),
        st.builds(lambda one, other: one * other, inner, inner),
        st.builds(lambda one, other: one / other, inner, inner),
        st.builds(lambda base: base**2, inner),
    ),
    max_leaves=7,
)
with_functions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds(lambda one, other: one + other, inner, inner),
        st.builds(lambda one, other: one * other, inner, inner),
        st.builds(lambda one, other: one / (1 + other**2), inner, inner),
        st.builds(sympy.sqrt, inner),
        st.builds(lambda base: base ** sympy.Rational(-3, 2), inner),
        st.builds(lambda inside: sympy.exp(-inside), inner),
        st.builds(lambda one, other: sympy.sin(one - other), inner, inner),
        st.builds(lambda base, exponent: base**exponent, inner, st.sampled_from(SYMBOLS)),
    ),
    max_leaves=6,
)


def read(text: str) -> sympy.Expr:
    names = {*re.findall(r"\b[a-df-z]\d*\b", text)}
    return sympy.sympify(text, locals={name: sympy.Symbol(name, positive=True) for name in names})


def value(formula: sympy.Expr, seed: int) -> complex:
    source = random.Random(seed)
    return complex(formula.subs({s: source.uniform(0.4, 1.9) for s in SYMBOLS}).evalf(20))


def expression(node: Node) -> sympy.Expr:
    """Return the expression that a tree's text stands for."""
    return sympy.sympify(str(node), locals={symbol.name: symbol for symbol in SYMBOLS})


@QUICK
@given(with_functions, st.integers(0, 9))
def test_the_normal_form_has_the_value_of_the_formula(formula: sympy.Expr, seed: int) -> None:
    found = normal_form(tree(formula))
    assume(found is not None and not formula.has(sympy.zoo, sympy.nan))
    expected = value(formula, seed)
    assert found is not None
    assert value(expression(found), seed) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@QUICK
@given(rational, st.sampled_from([sympy.expand, sympy.factor, sympy.together, sympy.cancel]))
def test_other_writings_have_the_same_normal_form_up_to_common_factors(
    formula: sympy.Expr, rewritten: object
) -> None:
    assume(not formula.has(sympy.zoo, sympy.nan) and formula != 0)
    numerator, denominator = sympy.fraction(sympy.together(formula))
    assume(sympy.gcd(sympy.expand(numerator), sympy.expand(denominator)).is_number)
    one, other = normal_form(tree(formula)), normal_form(tree(rewritten(formula)))  # type: ignore[operator]
    assume(one and other)
    assert one
    assert other
    assert TreeDistance(*comparable(one, other)).value == 0


@pytest.mark.parametrize(
    ("writing", "other"),
    [
        ("1/a + 1/b", "(a + b)/(a*b)"),
        ("(a**2 - b**2)/(a - b)", "a + b"),
        ("(a - b)/(a**2 - b**2)", "1/(a + b)"),
        ("1/(a - b) - 1/(a + b)", "2*b/(a**2 - b**2)"),
        ("1/(a - b)", "-1/(b - a)"),
        ("sqrt(4*a**2 - 8*a*b)", "2*sqrt(a)*sqrt(a - 2*b)"),
        ("(sqrt(a + b) + 1)**2", "a + b + 1 + 2*sqrt(a + b)"),
        ("x/sqrt(a + b) + sqrt(a + b)", "(x + a + b)/sqrt(a + b)"),
        ("sqrt(2)*(1 + sqrt(2))", "2 + sqrt(2)"),
        ("(exp(2*x) - 1)/exp(x)", "exp(x) - exp(-x)"),
        ("x**(n + 1) + x**n", "x**n*(x + 1)"),
        ("sin(a*(b + c))", "sin(a*b + a*c)"),
        ("cos((a - b)/(c - d))", "cos((b - a)/(c - d))"),
        ("1/(1 + 1/(1 + a))", "(1 + a)/(2 + a)"),
        ("(1 + I*a)**2", "1 + 2*I*a - a**2"),
    ],
)
def test_a_sum_and_a_fraction_of_sums_have_one_form(writing: str, other: str) -> None:
    assert nearest_distance(read(writing), read(other)).value == 0


@pytest.mark.parametrize(
    "large",
    [
        "(a + b + c + d)**40",
        "(a + b)**3*(c + d)**3*(x + y)**3",
        " + ".join(f"1/(x + {n})" for n in range(2, 30)),
        " + ".join(f"x{n}" for n in range(400)),
        "(1 + (1 + (1 + (a + b)**9)**9)**9)**9",
    ],
)
def test_a_form_that_would_be_large_is_not_computed(large: str) -> None:
    formula = read(large)
    assert normal_form(tree(formula)) is None
    assert nearest_distance(formula + read("z"), formula).value <= 2


def test_products_of_what_does_not_commute_keep_their_order() -> None:
    one, other = sympy.symbols("A B", commutative=False)
    assert normal_form(tree(one * other)) != normal_form(tree(other * one))
    assert nearest_distance(one * other - other * one, other * one - one * other).value > 0
    assert normal_form(tree((one + other) ** 2)) != normal_form(
        tree(one**2 + 2 * one * other + other**2)
    )
