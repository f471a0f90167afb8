"""Signatures of subtrees: numbers that depend on the structure, and on symbols by their colours.

The signatures of x and -x differ in their sign alone, whichever way it is written: (a - b) c has
the signature of -(b - a) c, and sin(a - b) that of -sin(b - a). Writing a formula in another order
changes no signature. They are the same in every process.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import prod
from typing import NamedTuple
from zlib import crc32

from pytest_llmeval.scoring.eed.metric.heads import COMMUTATIVE, parity
from pytest_llmeval.scoring.eed.metric.tree import Node

Colours = Mapping[str, int]
"""A positive number for each symbol; symbols of one colour are not distinguished."""

_MODULUS = (1 << 61) - 1
_HALF = _MODULUS // 2
_MULTIPLIER = 0x9E3779B97F4A7C15
_CACHED_LABELS = 4096
UNITS = ("1", "-1")


def mixed(*values: int) -> int:
    """Return a positive number that depends on all values and their order."""
    total = 1
    for value in values:
        total = (total ^ value) * _MULTIPLIER % _MODULUS
        total ^= total >> 31
    return total % _HALF + 1


@lru_cache(maxsize=_CACHED_LABELS)
def label_number(text: str) -> int:
    """Return a positive number for a text."""
    return mixed(crc32(text.encode(errors="backslashreplace")))


class Signature(NamedTuple):
    """The signature of a subtree.

    Attributes:
        size: what is the same for x and -x.
        sign: 1 or -1; 0 if the colours do not tell x from -x, as for a - b with one colour.
    """

    size: int
    sign: int

    @property
    def negative(self) -> bool:
        """Whether the sign is -1."""
        return self.sign < 0


class Signatures:
    """The signatures of the nodes of trees that are kept alive."""

    def __init__(self, colours: Colours) -> None:
        """Use these colours for symbols."""
        self._colours = colours
        self._known: dict[int, Signature] = {}

    def of(self, node: Node) -> Signature:
        """Return the signature of a subtree."""
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = self._compute(node)
        return known

    def _compute(self, node: Node) -> Signature:
        kind, text, below = node
        if not below:
            if kind == "symbol":
                return Signature(self._colours[text], 1)
            negative = text[0:1] == "-"
            return Signature(label_number(text[negative:]), -1 if negative else 1)
        if kind == "operator" and text == "Add":
            return self._sum(below)
        if kind == "operator" and text == "Mul":
            return self._product(below)
        values = [self.of(child) for child in below]
        if (odd := parity(node)) >= 0:
            base, *others = values
            size = mixed(label_number(text), base.size, *[value.size for value in others])
            return Signature(size, base.sign if odd else 1)
        parts = [mixed(value.size, value.sign + 1) for value in values]
        parts = sorted(parts) if node.label in COMMUTATIVE else parts
        return Signature(mixed(label_number(text), *parts), 1)

    def _sum(self, terms: tuple[Node, ...]) -> Signature:
        known = unknown = 0
        for term in terms:
            value = self.of(term)
            known += value.sign * mixed(value.size)
            unknown += 0 if value.sign else mixed(value.size)
        known %= _MODULUS
        if known > _HALF:
            known -= _MODULUS
        return Signature(mixed(abs(known), unknown), (known > 0) - (known < 0))

    def _product(self, factors: tuple[Node, ...]) -> Signature:
        values = [self.of(factor) for factor in factors]
        sizes = [v.size for v, f in zip(values, factors, strict=True) if f.text not in UNITS]
        size = sizes[0] if len(sizes) == 1 else mixed(sum(mixed(2, own) for own in sizes))
        return Signature(size, prod(value.sign for value in values))
