"""The parser of SLDP text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.scoring.lark_parser import Nesting, RuleError, lark_parser
from pytest_llmeval.scoring.sldp.syntax_error import SLDP_ERRORS
from pytest_llmeval.scoring.sldp.tolerance import EXACT
from pytest_llmeval.scoring.sldp.values import (
    DictValue,
    Key,
    ListValue,
    NumberValue,
    PointValue,
    SetValue,
    StringValue,
    Value,
)

if TYPE_CHECKING:
    from lark import Token

DEEPEST = 1000
"""Most containers that may be open at once."""

_ESCAPED = re.compile(r"\\([\"'\\])")
_ZERO = Decimal(0)

LONGEST_ANSWER = 500_000
"""Characters of an answer that is parsed; 10,000 points take some 300,000."""


def parse_sldp(text: str) -> Value:
    """Return the value of an SLDP text, in time and memory linear in its length.

    Raises:
        SldpSyntaxError: the text is not valid SLDP; a ValueError with line and column.

    Example:
        >>> parse_sldp("<O1, [2, POINT(1 2 3)]>")
        SetValue(<O1, [2, POINT(1 2 3)]>)
    """
    return _parser()(text)


@cache
def _parser() -> Callable[[str], Value]:
    """Return the parsing function, with the compiled grammar."""
    return lark_parser(
        Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8"),
        builder=_Builder(),
        nesting=Nesting(
            opening={"LSQB", "LESSTHAN", "LBRACE"},
            closing={"RSQB", "MORETHAN", "RBRACE"},
            deepest=DEEPEST,
            brackets="containers",
        ),
        errors=SLDP_ERRORS,
    )


class _Builder:
    """Builds the values; each method handles the grammar rule of its name."""

    def scalar(self, children: Sequence[Token]) -> Key:
        return _scalar(children[0])

    def list(self, children: Sequence[Value]) -> ListValue:
        return ListValue(elements=tuple(children))

    def set(self, children: Sequence[Value]) -> SetValue:
        return SetValue(elements=tuple(children))

    def entry(self, children: tuple[Token, Value]) -> tuple[Token, Key, Value]:
        token, value = children
        return token, _scalar(token), value

    def dict(self, children: Sequence[tuple[Token, Key, Value]]) -> DictValue:
        seen: set[tuple[type[Key], str]] = set()
        for token, key, _ in children:
            name = (type(key), _name(key))
            if name in seen:
                raise RuleError(token, "each key only once")
            seen.add(name)
        return DictValue(entries=tuple((key, value) for _, key, value in children))

    def point(self, children: Sequence[Token]) -> PointValue:
        return PointValue(coordinates=tuple(_decimal(token) for token in children[1:]))


def _name(key: Key) -> str:
    """Return the text by which a key is known: of equal numbers the same.

    The hash of a Decimal is its value modulo 2**61 - 1, so that whoever writes the keys can make
    them collide; that of a text is seeded.
    """
    if isinstance(key, StringValue):
        return key.text.strip()
    return str(EXACT.normalize(key.number)) if key.number else "0"


def _scalar(token: Token) -> Key:
    if token.type == "NUMBER":
        return NumberValue(number=_decimal(token))
    if token.type == "QUOTED":
        return StringValue(text=_ESCAPED.sub(r"\1", token[1:-1]))
    return StringValue(text=str(token))


def _decimal(token: Token) -> Decimal:
    """Return the exact number; its exponent is limited to the range of a double.

    A larger exponent would make later arithmetic arbitrarily expensive. Numbers too small for a
    double become 0.
    """
    size = float(token)
    if math.isinf(size):
        raise RuleError(token, "a number that fits a double (up to 1.8e308)")
    return Decimal(str(token)) if size else _ZERO
