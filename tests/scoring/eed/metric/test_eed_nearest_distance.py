"""The distance that counts: what it depends on, and what not."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, TypeAlias

import pytest
import sympy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_llmeval.scoring.eed import eed_score
from pytest_llmeval.scoring.eed.metric.comparison import nearest_distance
from pytest_llmeval.scoring.eed.metric.distance import published_score
from pytest_llmeval.scoring.eed.metric.expression import tree
from pytest_llmeval.scoring.eed.metric.tree import PostOrder

MANY = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NAMES = "abcdef"

Formula: TypeAlias = Callable[[Mapping[str, sympy.Symbol]], sympy.Expr]
"""A formula that is built from the symbols which stand for its names."""


def applied(function: Callable[..., Any], *parts: Formula) -> Formula:
    return lambda symbols: function(*(part(symbols) for part in parts))


def named(name: str) -> Formula:
    return lambda symbols: symbols[name]


def symbols_called(names: str) -> dict[str, sympy.Symbol]:
    return {
        name: sympy.Symbol(called, positive=True) for name, called in zip(NAMES, names, strict=True)
    }


symbols_ = st.sampled_from(NAMES).map(named)
differences = st.builds(
    lambda one, other: applied(lambda a, b: a - b, one, other), symbols_, symbols_
)
formulas: st.SearchStrategy[Formula] = st.recursive(
    symbols_,
    lambda inner: st.one_of(
        st.builds(lambda a, b: applied(lambda x, y: x + y, a, b), inner, inner),
        st.builds(lambda a, b: applied(lambda x, y: x - 2 * y, a, b), inner, inner),
        st.builds(lambda a, b: applied(lambda x, y: x * y, a, b), inner, inner),
        st.builds(lambda a, b: applied(lambda x, y: x / (1 + y**2), a, b), inner, inner),
        st.builds(lambda a: applied(sympy.sqrt, a), inner),
        st.builds(lambda a, b: applied(lambda x, y: x * sympy.exp(-y), a, b), inner, symbols_),
        st.builds(lambda a: applied(sympy.sin, a), differences),
        st.builds(lambda a: applied(lambda x: 3 / sympy.cos(x), a), differences),
        st.builds(lambda a, b: applied(lambda x, y: x * y**2, a, b), inner, differences),
    ),
    max_leaves=6,
)


@MANY
@given(formulas, formulas, st.permutations("uvwxyz"))
def test_renaming_all_symbols_changes_nothing(
    answer: Formula, target: Formula, names: list[str]
) -> None:
    plain, renamed = (
        nearest_distance(answer(symbols), target(symbols))
        for symbols in (symbols_called(NAMES), symbols_called("".join(names)))
    )
    assert (renamed.value, len(renamed.target)) == pytest.approx((plain.value, len(plain.target)))


@pytest.mark.parametrize(
    ("answer", "target", "names"),
    [
        # Interchangeable symbols: how one pair is ordered decides how the others are.
        ("(c - a)*sin(e - f)", "3*(f - e)**2/cos(e - f)", "wvuyxz"),
        ("b*(f - c)**2", "b/(f**2 + 1) + sin(a - b) - 2*a", "wuyvxz"),
        ("b*exp(-d)", "-2*c - 2*d/(e**2 + 1) - sin(c - d)", "xvyuwz"),
        # sympy collects factors only where the names make it write them alike.
        ("sqrt(sin(f - c)) + sin(f - c)", "b/(1 + f**2) + b", "ubfxyc"),
        (
            "sqrt(sin(c - a)*sqrt(sin(c - a))*exp(-d))",
            "sqrt(3/cos(c - f) + c*e) - 2*c/(1 + a**2)",
            "wyuzxv",
        ),
    ],
)
def test_renaming_the_symbols_of_formulas_of_any_symmetry_changes_nothing(
    answer: str, target: str, names: str
) -> None:
    plain, renamed = (
        nearest_distance(*(sympy.sympify(text, locals=symbols) for text in (answer, target)))
        for symbols in (symbols_called(NAMES), symbols_called(names))
    )
    assert (renamed.value, len(renamed.target)) == (plain.value, len(plain.target))


@pytest.mark.parametrize("other", [r"\sqrt{a+k}\frac{b}{c}", r"\frac{a}{b}+5c", "a-b"])
@pytest.mark.parametrize(
    ("writing", "style"),
    [
        (r"\frac{a}{b+c}", r"a(b+c)^{-1}"),
        (r"\frac{a}{b+c}", r"a/(c+b)"),
        (r"\sqrt{a+b}\frac{b}{c}", r"b c^{-1} (b+a)^{1/2}"),
        (r"\frac{a}{b}-3c", r"-3\,c+\dfrac{a}{b}"),
        (r"\frac{1}{2}ab^2", r"b\cdot a\cdot b/2"),
        (r"e^{-\frac{a}{b}}c", r"c\exp\left(-a/b\right)"),
        (r"\frac{a}{\sqrt{b}}", r"ab^{-\frac12}"),
    ],
)
def test_the_style_of_writing_changes_nothing(writing: str, style: str, other: str) -> None:
    plain, styled = eed_score(writing, other), eed_score(style, other)
    assert (styled.score, styled.distance) == (plain.score, plain.distance)
    plain, styled = eed_score(other, writing), eed_score(other, style)
    assert (styled.score, styled.distance) == (plain.score, plain.distance)


TARGETS = (
    "v*t - g*t**2/2",
    "m*v**2/2 + m*g*h + k*x**2/2",
    "sqrt(2*g*h/(1 + J/(m*r**2)))",
    "q*p/(4*pi*k*r**2)*(1 - a/b)",
    "A*exp(-k*t)*cos(w*t + p) + F/k",
    "(a + b)/(c + d) - p/(q*r) + sqrt(x*y)",
)


def with_planted_edits(formula: sympy.Expr, count: int, source: random.Random) -> sympy.Expr:
    """Return the formula with so many of its symbols replaced by new ones."""
    names = sorted(formula.free_symbols, key=str)
    return formula.xreplace(
        {
            symbol: sympy.Symbol(f"new_{number}", positive=True)
            for number, symbol in enumerate(source.sample(names, count))
        }
    )


def planted(count: int) -> Iterator[tuple[sympy.Expr, sympy.Expr]]:
    """Yield answers with so many planted edits, and their targets."""
    for number, text in enumerate(TARGETS):
        target = sympy.posify(sympy.sympify(text))[0]
        for seed in range(5):
            yield with_planted_edits(target, count, random.Random(f"{number} {seed}")), target


def test_every_edit_more_lowers_the_mean_score() -> None:
    means = []
    for count in range(4):
        found = [nearest_distance(*pair) for pair in planted(count)]
        means.append(statistics.fmean(published_score(d.value, len(d.target)) for d in found))
    assert means[0] == 100
    assert means == sorted(means, reverse=True)
    assert all(before - after > 2 for before, after in pairwise(means))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_planted_edit_costs_at_most_a_relabelling_at_each_place(count: int) -> None:
    for answer, target in planted(count):
        found, size = nearest_distance(answer, target), len(PostOrder.of(tree(target)))
        changed = answer.free_symbols - target.free_symbols
        places = sum(node.text in {str(s) for s in changed} for node in tree(answer).walk())
        assert found.value / len(found.target) <= places / size + 1e-9


@pytest.mark.parametrize(
    ("answer", "target", "distance"),
    [
        ("Equation(a + b, c)", "Equation(c, a + b)", 0),
        ("Equation(a + b, z)", "Equation(c, a + b)", 1),
        ("Set(1, a, b)", "Set(b, 1, a)", 0),
        ("Set(1, a)", "Set(a, 1, b)", 1),
        ("Tuple_(a, b)", "Tuple_(b, a)", 2),
        ("Several(Equation(a, 1), Equation(b, 2))", "Several(Equation(2, b), Equation(1, a))", 0),
        ("Set(a*(b + c), a)", "Set(a, a*b + a*c)", 0),
        ("f(a, b)", "g(a, b)", 1),
    ],
)
def test_a_typed_answer_is_compared_part_by_part(answer: str, target: str, distance: int) -> None:
    heads = ("Equation", "Set", "Tuple_", "Several", "f", "g")
    known = {head: sympy.Function(head) for head in heads}
    known |= {name: sympy.Symbol(name, positive=True) for name in "abcz"}
    ours, theirs = (sympy.sympify(text, locals=known) for text in (answer, target))
    assert nearest_distance(ours, theirs).value == distance


def test_the_order_of_operators_counts() -> None:
    one, other = sympy.symbols("A B", commutative=False)
    factor = sympy.Symbol("a", positive=True)
    assert nearest_distance(factor * one * other, other * factor * one).value == 2
    assert nearest_distance(one * factor * other, factor * one * other).value == 0
