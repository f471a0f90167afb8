"""The rational normal form of a formula, as a tree.

A formula becomes a number times powers of symbols times an expanded sum over an expanded sum. Other
parts (functions, roots of sums, powers with symbolic exponents) are generators like the symbols;
their arguments are brought into the normal form, too. Two writings of one rational function have
the same form in most cases: a common factor is cancelled where one division finds it, and no
greatest common divisors are computed.

Symbols are positive. Large sums are never computed: see `polynomial.MAX_TERMS`.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from pytest_llmeval.scoring.eed.metric.algebra import Algebra, Quotient
from pytest_llmeval.scoring.eed.metric.heads import parity
from pytest_llmeval.scoring.eed.metric.polynomial import (
    ONE,
    Rational,
    TooManyTerms,
    constant,
    times,
    to_power,
    whole,
)
from pytest_llmeval.scoring.eed.metric.quotient_tree import number_tree, quotient_tree
from pytest_llmeval.scoring.eed.metric.tree import Node

MAX_NODES = 300
"""Of a formula that is brought into the normal form."""

_CACHED = 256
_NUMBER = re.compile(r"-?\d+(?:/\d+)?|-?\d*\.\d+(?:e[+-]?\d{1,3})?")
_UNBOUNDED = frozenset({"oo", "-oo", "zoo", "nan"})
_EULER = Node("number", "E")
_IMAGINARY = Node("number", "I")
_DIVISORS = (2, *range(3, 100, 2))  # that are looked for in a number under a root


@lru_cache(maxsize=_CACHED)
def normal_form(formula: Node) -> Node | None:
    """Return the normal form; None if there is none, or a step to it is too large."""
    if sum(1 for _ in formula.walk()) > MAX_NODES:
        return None
    try:
        return _Normalizer().tree(formula)
    except (TooManyTerms, ZeroDivisionError):
        return None


class _Normalizer:
    """The way of one formula to its normal form."""

    def __init__(self) -> None:
        self._algebra = Algebra()

    def tree(self, node: Node) -> Node:
        """Return the normal form of a formula."""
        return quotient_tree(self._quotient(node), self._algebra)

    def _quotient(self, node: Node) -> Quotient:
        match node.kind:
            case "symbol":
                return self._algebra.generator(node, positive=True)
            case "number":
                return self._number(node)
            case "operator":
                return self._operation(node.text, [self._quotient(n) for n in node.children])
            case "function":
                return self._function(node)

    def _operation(self, operator: str, operands: list[Quotient]) -> Quotient:
        match operator:
            case "Add":
                return self._algebra.sum(operands)
            case "Mul":
                return self._algebra.product(operands)
            case _:
                return self._power(*operands)

    def _function(self, node: Node) -> Quotient:
        """Return a function of normal forms; a sign leaves odd functions, and is lost in even."""
        if node.text == "exp":
            return self._power(self._number(_EULER), self._quotient(node.children[0]))
        if (odd := parity(node)) < 0:
            arguments = tuple([self.tree(child) for child in node.children])
            return self._algebra.generator(node._replace(children=arguments), positive=False)
        argument, minus = self._quotient(node.children[0]), Quotient(constant(-1))
        negative = argument.numerator and self._algebra.parts(argument.numerator)[0] < 0
        if negative:
            argument = self._algebra.product([minus, argument])
        below = (quotient_tree(argument, self._algebra),)
        value = self._algebra.generator(node._replace(children=below), positive=False)
        return self._algebra.product([minus, value]) if negative and odd else value

    def _number(self, node: Node) -> Quotient:
        if _NUMBER.fullmatch(node.text):
            return Quotient(constant(whole(Fraction(node.text))))
        if node.text in _UNBOUNDED:
            raise ZeroDivisionError
        if node == _IMAGINARY:
            unit = self._algebra.number_of(node, positive=False)
            self._algebra.relations[unit] = 2, constant(-1)
        return self._algebra.generator(node, positive=node != _IMAGINARY)

    def _power(self, base: Quotient, exponent: Quotient) -> Quotient:
        """Return a power; an exponent that is a sum is split into factors."""
        if exponent.denominator:
            return self._symbolic_power(base, exponent, 1)
        factors = []
        for monomial, coefficient in exponent.numerator.items():
            if monomial == ONE:
                factors.append(self._rational_power(base, coefficient))
            else:
                factors.append(self._symbolic_power(base, Quotient({monomial: 1}), coefficient))
        return self._algebra.product(factors)

    def _symbolic_power(self, base: Quotient, exponent: Quotient, count: Rational) -> Quotient:
        below, above = (quotient_tree(value, self._algebra) for value in (base, exponent))
        positive = self._algebra.is_positive(base) and _IMAGINARY not in above.walk()
        power = Node("operator", "Pow", (below, above))
        if below == _EULER:
            power = Node("function", "exp", (above,))
        return self._algebra.generator(power, positive=positive, exponent=count)

    def _rational_power(self, base: Quotient, exponent: Rational) -> Quotient:
        if exponent.denominator == 1:
            return self._algebra.power(base, exponent.numerator)
        count = max(0, int(exponent))
        root = self._root(base, whole(exponent - count))
        return self._algebra.product([self._algebra.power(base, count), root])

    def _root(self, base: Quotient, exponent: Rational) -> Quotient:
        """Return a power with a broken exponent below 1; positive factors leave the root."""
        algebra = self._algebra
        number, monomial, rest = algebra.parts(base.numerator)
        outside = tuple([item for item in monomial if algebra.positive[item[0]]])
        inside = tuple([item for item in monomial if not algebra.positive[item[0]]])
        roots = [
            self._root_of_number(number, exponent),
            Quotient(algebra.expanded([{to_power(outside, exponent): 1}])),
        ]
        of_any_sign = dict(base.denominator)
        for part, power in base.denominator.items():
            if algebra.is_positive(Quotient(dict(part))):
                del of_any_sign[part]
                roots.append(self._root_of_sum(Quotient(dict(part)), -power * exponent))
        sign = 1 if number > 0 else -1
        remaining = Quotient(algebra.expanded([{inside: sign}, rest]), of_any_sign)
        if remaining != Quotient(constant(1)):
            roots.append(self._root_of_sum(remaining, exponent))
        return algebra.product(roots)

    def _root_of_sum(self, base: Quotient, exponent: Rational) -> Quotient:
        algebra, count = self._algebra, max(0, int(exponent))
        node, positive = quotient_tree(base, algebra), algebra.is_positive(base)
        number = algebra.number_of(node, positive=positive)
        if not base.denominator and base.numerator != {((number, 1),): 1}:
            algebra.relations[number] = 1, base.numerator
        root = algebra.generator(node, positive=positive, exponent=whole(exponent - count))
        return algebra.product([root, algebra.power(base, count)])

    def _root_of_number(self, value: Rational, exponent: Rational) -> Quotient:
        """Return a power of a number's absolute value: roots of primes, a number before them."""
        algebra, coefficient, roots = self._algebra, Fraction(1), ONE
        for part, direction in ((abs(value.numerator), 1), (value.denominator, -1)):
            for prime, power in _factors(part).items():
                own = Fraction(power * exponent * direction)
                floor = own.numerator // own.denominator
                coefficient *= Fraction(prime) ** floor
                if own != floor:
                    number = algebra.number_of(number_tree(prime), positive=True)
                    algebra.relations[number] = 1, constant(prime)
                    roots = times(roots, ((number, own - floor),))
        return Quotient({roots: whole(coefficient)})


def _factors(number: int) -> dict[int, int]:
    """Return prime factors with their powers; what has no small ones counts as a prime."""
    found: dict[int, int] = {}
    for divisor in _DIVISORS:
        while number % divisor == 0:
            number //= divisor
            found[divisor] = found.get(divisor, 0) + 1
    return found if number == 1 else {**found, number: 1}
