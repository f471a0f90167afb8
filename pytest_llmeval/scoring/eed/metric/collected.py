"""Products in which factors with the same base up to its sign are one power.

sympy collects such factors where it happens to write them alike, and how it writes them depends on
the names of symbols: sqrt(-sin(a - b)) sin(b - a) is a power of sin(b - a) if b comes first by
name; |a - b|^2 (a - b)^2 is (a - b)^4, or (b - a)^2 (a - b)^2. Here they are always collected.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from pytest_llmeval.scoring.eed.metric.heads import is_negative
from pytest_llmeval.scoring.eed.metric.signature import Signatures, label_number
from pytest_llmeval.scoring.eed.metric.tree import Node

_EXPONENT = re.compile(r"-?\d+(?:/\d+)?")
_PRODUCT = ("operator", "Mul")


class _Power(NamedTuple):
    """A factor: a base, and its exponent, which is a number."""

    base: Node
    exponent: Fraction
    sign: int = 1


def collected(formula: Node) -> Node:
    """Return the tree with equal bases in a product collected; a sign may leave the product."""
    if not formula.children:
        return formula
    below = [collected(child) for child in formula.children]
    if formula.label == _PRODUCT:
        return _product(below)
    return formula._replace(children=tuple(below))


def _product(factors: list[Node]) -> Node:
    powers = [_power(factor) for factor in factors]
    compound = [power for power in powers if power.base.children]
    if not compound[1:]:  # sympy collects equal symbols and numbers
        return _product_of(factors)
    signatures = Signatures(
        {n.text: label_number(n.text) for f in factors for n in f.walk() if n.kind == "symbol"}
    )
    groups: dict[int, list[int]] = {}
    for i, power in enumerate(powers):
        if power.base.children:
            value = signatures.of(power.base)
            powers[i] = power._replace(sign=value.sign)
            groups.setdefault(value.size, []).append(i)
    minus = 0
    left: list[Node | None] = [*factors]
    for group in groups.values():
        one = _one_power([powers[i] for i in group]) if group[1:] else None
        if one is not None:
            first, *others = group
            left[first] = _factor(one)
            minus += one.sign < 0
            for i in others:
                left[i] = None
    return _with_sign([factor for factor in left if factor is not None], minus=minus % 2 == 1)


def _power(factor: Node) -> _Power:
    if factor.label == ("operator", "Pow"):
        base, exponent = factor.children
        if exponent.kind == "number" and _EXPONENT.fullmatch(exponent.text):
            return _Power(base, Fraction(exponent.text))
    return _Power(factor, Fraction(1))


def _one_power(powers: list[_Power]) -> _Power | None:
    """Return the product of powers whose bases differ in their sign at most, and its sign.

    None if roots of x and of -x are among them.
    """
    roots = [power for power in powers if power.exponent.denominator > 1]
    if len({power.sign for power in roots}) > 1:
        return None
    base = min(roots or powers, key=lambda power: sum(map(is_negative, power.base.walk())))
    opposite = [power.exponent for power in powers if power.sign != base.sign]
    total = sum((power.exponent for power in powers), Fraction(0))
    return _Power(base.base, total, -1 if sum(opposite) % 2 else 1)


def _factor(power: _Power) -> Node | None:
    if not power.exponent:
        return None
    exponent = Node("number", str(power.exponent))
    return power.base if power.exponent == 1 else Node("operator", "Pow", (power.base, exponent))


def _with_sign(factors: list[Node], *, minus: bool) -> Node:
    """Return a product, with the other sign if `minus`."""
    if minus:
        numbers = [i for i, factor in enumerate(factors) if factor.kind == "number"]
        if numbers:
            text = factors[numbers[0]].text
            factors[numbers[0]] = Node("number", text[1:] if text[0] == "-" else f"-{text}")
        else:
            factors = [Node("number", "-1"), *factors]
    rest = [factor for factor in factors if factor != Node("number", "1")]
    if not rest:
        return Node("number", "1")
    return rest[0] if len(rest) == 1 else _product_of(rest)


def _product_of(factors: list[Node]) -> Node:
    return Node("operator", "Mul", tuple(factors))
