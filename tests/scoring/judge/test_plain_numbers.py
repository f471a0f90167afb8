"""An expression is read as its value, or not at all."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.scoring.judge.plain_answer import read_plain
from pytest_llmeval.scoring.judge.radicals import RadicalSum


class Written(NamedTuple):
    """An expression as a mathematician reads it, and its value."""

    text: str
    value: float


def ratio(top: float, bottom: float) -> float:
    """Return the quotient, which is no number if `bottom` is 0."""
    return top / bottom if bottom else math.nan


WHOLE = st.integers(1, 40)
NUMBERS = st.one_of(
    WHOLE.map(lambda n: Written(str(n), n)),
    st.tuples(WHOLE, st.integers(1, 99)).map(
        lambda p: Written(f"{p[0]}.{p[1]:02}", p[0] + p[1] / 100)
    ),
    WHOLE.map(lambda n: Written(f"{n},208", n * 1000 + 208)),
)
ROOTS = st.tuples(
    st.sampled_from(["√{}", "\\sqrt{{{}}}", "\\sqrt {{ {} }}", "sqrt({})", "√({})"]), WHOLE
).map(lambda p: Written(p[0].format(p[1]), math.sqrt(p[1])))
PI = st.sampled_from(["π", "\\pi", "pi", "\\pi "]).map(lambda text: Written(text, math.pi))
POWERS = st.tuples(st.sampled_from(["{}^2", "{}²", "{}^{{2}}"]), WHOLE).map(
    lambda p: Written(p[0].format(p[1]), p[1] ** 2)
)
MIXED = st.tuples(WHOLE, WHOLE, WHOLE, st.sampled_from(["{} {}/{}", "{}\\frac{{{}}}{{{}}}"])).map(
    lambda p: Written(p[3].format(p[0], p[1], p[1] + p[2]), p[0] + p[1] / (p[1] + p[2]))
)


def term(one: Written) -> str:
    """Return a text that may stand behind a minus: a sum in brackets."""
    return f"({one.text})" if " + " in one.text else one.text


def combined(parts: st.SearchStrategy[Written]) -> st.SearchStrategy[Written]:
    pairs = st.tuples(parts, parts)
    return st.one_of(
        pairs.map(
            lambda p: Written(
                f"\\frac{{{p[0].text}}}{{{p[1].text}}}", ratio(p[0].value, p[1].value)
            )
        ),
        pairs.map(lambda p: Written(f"{p[0].text} + {p[1].text}", p[0].value + p[1].value)),
        pairs.map(lambda p: Written(f"({p[0].text})({p[1].text})", p[0].value * p[1].value)),
        pairs.map(lambda p: Written(f"({p[0].text} - {term(p[1])})", p[0].value - p[1].value)),
        pairs.map(lambda p: Written(f"({p[0].text})/({p[1].text})", ratio(p[0].value, p[1].value))),
        parts.map(lambda p: Written(f"-({p.text})", -p.value)),
    )


def product(factors: list[Written]) -> Written:
    return Written("".join(one.text for one in factors), math.prod(one.value for one in factors))


FACTORS = st.one_of(ROOTS, PI)
PRODUCTS = st.tuples(st.one_of(NUMBERS, POWERS), FACTORS, FACTORS).flatmap(
    lambda parts: st.integers(1, 3).map(lambda count: product(list(parts[:count])))
)
EXPRESSIONS = st.one_of(
    PRODUCTS, combined(st.recursive(st.one_of(NUMBERS, ROOTS, PRODUCTS), combined, max_leaves=4))
)


@given(EXPRESSIONS)
def test_an_expression_is_read_as_its_value_or_not_at_all(written: Written) -> None:
    read = read_plain(written.text)
    if read is not None:
        (value,) = read.values
        assert math.isclose(value.number.approximation(), written.value, rel_tol=1e-9, abs_tol=1e-9)


@given(st.one_of(NUMBERS, ROOTS, PI, MIXED, POWERS))
def test_single_numbers_roots_powers_and_mixed_numbers_are_all_read(written: Written) -> None:
    assert read_plain(written.text) is not None


SUMS = st.lists(st.tuples(st.fractions(-9, 9, max_denominator=9), WHOLE, st.booleans()), max_size=4)


def added(terms: list[tuple[Fraction, int, bool]]) -> RadicalSum:
    total = RadicalSum({})
    for factor, radicand, with_pi in terms:
        term = RadicalSum.rational(factor) * RadicalSum.rational(Fraction(radicand)).root()
        total += term * RadicalSum.pi() if with_pi else term
    return total


@given(SUMS, SUMS)
def test_sums_are_equal_exactly_when_their_values_are(
    one: list[tuple[Fraction, int, bool]], other: list[tuple[Fraction, int, bool]]
) -> None:
    ours, theirs = added(one), added(other)
    gap = abs(ours.approximation() - theirs.approximation())
    assert (ours == theirs) is (gap < 1e-30)
    assert ours + theirs == theirs + ours
    assert (ours * theirs) == theirs * ours
    product_of_values = ours.approximation() * theirs.approximation()
    assert abs((ours * theirs).approximation() - product_of_values) < 1e-30
