"""Reading SLDP text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pytest_llmeval.scoring.sldp.mistakes import misread, refused
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
    from lark import Lark, Token

DEEPEST = 1000
"""How many containers may be open at once."""

_ESCAPED = re.compile(r"\\([\"'\\])")
_ZERO = Decimal(0)


def parse_sldp(text: str) -> Value:
    """Return the value that an SLDP text stands for.

    Raises SldpSyntaxError, a ValueError that knows line and column. Work and memory are linear in
    the text.
    """
    from lark.exceptions import UnexpectedInput  # noqa: PLC0415 - lark is loaded by whoever parses, not by every session

    try:
        return cast("Value", _parser().parse(text))
    except UnexpectedInput as error:
        raise misread(text, error) from None
    except _Refusal as refusal:
        raise refused(text, refusal.token.start_pos or 0, refusal.expected) from None


class _Refusal(Exception):  # noqa: N818 - never leaves this module; it becomes an SldpSyntaxError
    """A token that the grammar lets through and the rules do not."""

    def __init__(self, token: Token, expected: str) -> None:
        super().__init__(expected)
        self.token, self.expected = token, expected


@cache
def _parser() -> Lark:
    from lark import Lark  # noqa: PLC0415 - as above

    return Lark(
        Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8"),
        parser="lalr",
        transformer=_Builder(),
        postlex=_DepthGuard(),
    )


class _DepthGuard:
    """Refuses the container that would be nested too deep, before anything is built from it."""

    always_accept = ()

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        depth = 0
        for token in stream:
            if token.type in {"LSQB", "LESSTHAN", "LBRACE"}:
                depth += 1
                if depth > DEEPEST:
                    raise _Refusal(token, f"at most {DEEPEST} containers inside each other")
            elif token.type in {"RSQB", "MORETHAN", "RBRACE"}:
                depth -= 1
            yield token


class _Builder:
    """Makes values of what the grammar's rules of the same names have matched."""

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
        seen: set[Decimal | str] = set()
        for token, key, _ in children:
            name = key.number if isinstance(key, NumberValue) else key.text.strip()
            if name in seen:
                raise _Refusal(token, "each key only once")
            seen.add(name)
        return DictValue(entries=tuple((key, value) for _, key, value in children))

    def point(self, children: Sequence[Token]) -> PointValue:
        return PointValue(coordinates=tuple(_decimal(token) for token in children[1:]))


def _scalar(token: Token) -> Key:
    if token.type == "NUMBER":
        return NumberValue(number=_decimal(token))
    if token.type == "QUOTED":
        return StringValue(text=_ESCAPED.sub(r"\1", token[1:-1]))
    return StringValue(text=str(token))


def _decimal(token: Token) -> Decimal:
    """Return the number as written, kept within a double's range so that no exponent can blow up later arithmetic."""
    size = float(token)
    if math.isinf(size):
        raise _Refusal(token, "a number that fits a double (up to 1.8e308)")
    return Decimal(str(token)) if size else _ZERO
