"""The tree of a quotient of polynomials.

A number times powers of generators times an expanded sum over an expanded sum.
"""

from __future__ import annotations

from fractions import Fraction

from pytest_llmeval.scoring.eed.metric.algebra import Algebra, Quotient, Sum
from pytest_llmeval.scoring.eed.metric.polynomial import (
    Monomial,
    Polynomial,
    Rational,
    constant,
    quotient,
)
from pytest_llmeval.scoring.eed.metric.tree import Node


def quotient_tree(value: Quotient, algebra: Algebra) -> Node:
    """Return the tree of a quotient, without sums that divide both of its sides."""
    if not value.numerator:
        return number_tree(0)
    number, monomial, above = algebra.parts(value.numerator)
    above, sums = _cancelled(above, value.denominator)
    sign, above = algebra.mostly_positive(above)
    other, below = algebra.mostly_positive(algebra.expanded(sums))
    number *= sign * other
    if above != constant(1):
        scaled = {own: coefficient * number for own, coefficient in above.items()}
        alone = not monomial and below == constant(1)
        fewer = abs(number) != 1 and _coefficients(scaled) <= _coefficients(above) + 1
        if alone or fewer:  # numbers before the terms rather than before the sum
            above, number = scaled, 1
    factors = _powers(monomial, algebra)
    if above != constant(1):
        factors.append(_sum_tree(above, algebra))
    if below != constant(1):
        factors.append(Node("operator", "Pow", (_sum_tree(below, algebra), number_tree(-1))))
    return _product_tree(number, factors)


def number_tree(value: Rational) -> Node:
    """Return the node of a number."""
    return Node("number", str(value))


def _cancelled(above: Polynomial, below: dict[Sum, int]) -> tuple[Polynomial, list[Polynomial]]:
    """Return numerator and factors of the denominator without what one division can cancel."""
    left = []
    for part, power in below.items():
        divisor, remaining = dict(part), power
        while remaining and (shorter := quotient(above, divisor)) is not None:
            above, remaining = shorter, remaining - 1
        if remaining and len(above) > 1 and (shorter := quotient(divisor, above)) is not None:
            left.append(shorter)
            above, remaining = constant(1), remaining - 1
        left += [divisor] * remaining
    return above, left


def _coefficients(terms: Polynomial) -> int:
    """Return how many terms have a number as a factor."""
    return sum(1 for coefficient in terms.values() if abs(coefficient) != 1)


def _sum_tree(terms: Polynomial, algebra: Algebra) -> Node:
    below = [
        _product_tree(coefficient, _powers(monomial, algebra))
        for monomial, coefficient in terms.items()
    ]
    return below[0] if len(below) == 1 else Node("operator", "Add", tuple(below))


def _powers(monomial: Monomial, algebra: Algebra) -> list[Node]:
    """Return the powers in a monomial; equal roots of several numbers are one root."""
    numbers: dict[Rational, int] = {}
    factors = []
    for number, exponent in monomial:
        base = algebra.generators[number]
        if base.kind == "number" and base.text.isdecimal():
            numbers[exponent] = numbers.get(exponent, 1) * int(base.text)
        else:
            factors.append(_power_tree(base, exponent))
    return [*(_power_tree(number_tree(base), own) for own, base in numbers.items()), *factors]


def _power_tree(base: Node, exponent: Rational) -> Node:
    """Return the tree of a power; a power of a power multiplies its exponent."""
    if exponent == 1:
        return base
    match base.kind, base.text:
        case "function", "exp":
            return Node(base.kind, base.text, (_multiple(base.children[0], exponent),))
        case "operator", "Pow":
            foot, height = base.children
            return Node(base.kind, base.text, (foot, _multiple(height, exponent)))
    return Node("operator", "Pow", (base, number_tree(exponent)))


def _multiple(node: Node, number: Rational) -> Node:
    """Return the tree of an exponent, which holds a symbol, multiplied by a number."""
    factors = node.children if node.label == ("operator", "Mul") else (node,)
    if factors[0].kind == "number" and factors[0].text.lstrip("-").replace("/", "").isdecimal():
        return _product_tree(Fraction(factors[0].text) * number, list(factors[1:]))
    return _product_tree(number, list(factors))


def _product_tree(number: Rational, factors: list[Node]) -> Node:
    head = [] if number == 1 and factors else [number_tree(number)]
    below = (*head, *factors)
    return below[0] if len(below) == 1 else Node("operator", "Mul", below)
