"""Quotients of polynomials in the generators of a formula, and their arithmetic.

Generators are symbols and what counts as one: functions, roots of sums, powers with symbolic
exponents. Denominators stay products of sums, so that equal ones are recognised.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from pytest_llmeval.scoring.eed.metric import polynomial
from pytest_llmeval.scoring.eed.metric.heads import has_free_sign
from pytest_llmeval.scoring.eed.metric.polynomial import (
    ONE,
    Monomial,
    Polynomial,
    Rational,
    constant,
    content,
    divided_by,
    times,
    to_power,
    whole,
)
from pytest_llmeval.scoring.eed.metric.tree import Node

Sum: TypeAlias = frozenset[tuple[Monomial, Rational]]
"""A polynomial of several terms without a common factor, hashable."""


@dataclass(frozen=True, slots=True)
class Quotient:
    """A polynomial over a product of powers of sums."""

    numerator: Polynomial
    denominator: dict[Sum, int] = field(default_factory=dict)


class Algebra:
    """The generators of one formula, numbered as they are met, and arithmetic with them.

    Attributes:
        generators: the tree of each generator, by its number.
        positive: whether each generator is positive.
        relations: generator -> a power, and the polynomial that this power of it is equal to: the
            square of the imaginary unit is -1.

    Every method may raise `polynomial.TooManyTerms`.
    """

    def __init__(self) -> None:
        """Start without generators."""
        self.generators: list[Node] = []
        self.positive: list[bool] = []
        self.relations: dict[int, tuple[int, Polynomial]] = {}
        self._numbers: dict[Node, int] = {}
        self._free: set[int] = set()

    def number_of(self, node: Node, *, positive: bool) -> int:
        """Return the number of a generator, which is new if it was not met before."""
        number = self._numbers.setdefault(node, len(self.generators))
        if number == len(self.generators):
            self.generators.append(node)
            self.positive.append(positive)
            if has_free_sign(node):
                self._free.add(number)
        return number

    def generator(self, node: Node, *, positive: bool, exponent: Rational = 1) -> Quotient:
        """Return a power of a generator."""
        return Quotient({((self.number_of(node, positive=positive), exponent),): 1})

    def is_positive(self, value: Quotient) -> bool:
        """Return whether a value is a sum of positive terms; False also if that is unknown."""
        return not value.denominator and all(
            coefficient > 0 and all(self.positive[number] for number, _ in monomial)
            for monomial, coefficient in value.numerator.items()
        )

    def sum(self, terms: list[Quotient]) -> Quotient:
        """Return a sum over the common denominator."""
        common: dict[Sum, int] = {}
        for term in terms:
            for part, power in term.denominator.items():
                common[part] = max(power, common.get(part, 0))
        numerators = []
        for term in terms:
            missing = {part: p - term.denominator.get(part, 0) for part, p in common.items()}
            numerators.append(self.expanded([term.numerator], missing))
        return Quotient(polynomial.add(numerators), common)

    def product(self, factors: list[Quotient]) -> Quotient:
        """Return a product."""
        denominator: dict[Sum, int] = {}
        for factor in factors:
            for part, power in factor.denominator.items():
                denominator[part] = denominator.get(part, 0) + power
        return Quotient(self.expanded([factor.numerator for factor in factors]), denominator)

    def power(self, value: Quotient, exponent: int) -> Quotient:
        """Return a power with a whole exponent; ZeroDivisionError for 1/0."""
        if exponent < 0:
            return self.power(self._inverse(value), -exponent)
        powers = {part: power * exponent for part, power in value.denominator.items() if exponent}
        return Quotient(self._reduced(polynomial.power(value.numerator, exponent)), powers)

    def _inverse(self, value: Quotient) -> Quotient:
        number, monomial, rest = self.parts(value.numerator)
        inverse = {to_power(monomial, -1): whole(1 / Fraction(number))}
        return Quotient(
            self.expanded([inverse], value.denominator),
            {} if rest == constant(1) else {frozenset(rest.items()): 1},
        )

    def parts(self, terms: Polynomial) -> tuple[Rational, Monomial, Polynomial]:
        """Return a number, a monomial, and a sum without common factors, whose product it is.

        The sum is `mostly_positive`. ZeroDivisionError for 0.
        """
        if not terms:
            raise ZeroDivisionError
        number, monomial = content(terms)
        rest = self._reduced(divided_by(terms, number, monomial))
        more, again = content(rest)  # reducing may bring a common factor to light
        sign, rest = self.mostly_positive(divided_by(rest, more, again))
        return whole(Fraction(sign * number * more)), times(monomial, again), rest

    def mostly_positive(self, terms: Polynomial) -> tuple[int, Polynomial]:
        """Return a sign, and the sum times that sign, which has no more negative terms than others.

        Terms of free sign are not counted: they can be written either way.
        """
        positive = [
            coefficient > 0
            for monomial, coefficient in terms.items()
            if not any(number in self._free and exponent % 2 == 1 for number, exponent in monomial)
        ]
        if 2 * sum(positive) < len(positive):
            return -1, divided_by(terms, -1, ONE)
        return 1, terms

    def expanded(
        self, factors: list[Polynomial], powers: dict[Sum, int] | None = None
    ) -> Polynomial:
        """Return the product of polynomials and powers of sums."""
        sums = [dict(part) for part, power in (powers or {}).items() for _ in range(power)]
        total = constant(1)
        for factor in [*factors, *sums]:
            total = self._reduced(polynomial.multiply(total, factor))
        return total

    def _reduced(self, terms: Polynomial) -> Polynomial:
        """Apply the relations to every term."""
        if not self.relations:
            return terms
        return polynomial.add(
            [self._reduced_term(monomial, number) for monomial, number in terms.items()]
        )

    def _reduced_term(self, monomial: Monomial, coefficient: Rational) -> Polynomial:
        left, equals = [], []
        for number, exponent in monomial:
            power, equal = self.relations.get(number, (1, {}))
            count = int(exponent // power) if equal and exponent >= power else 0
            equals += [equal] * count
            if exponent != count * power:
                left.append((number, whole(exponent - count * power)))
        term = {tuple(left): coefficient}
        return self.expanded([term, *equals]) if equals else term
