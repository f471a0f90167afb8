"""The values of SLDP and their text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

_BARE = re.compile(r"\w+")
_NUMBER = re.compile(r"[0-9]+(?:[eE][0-9]+)?")
"""A number that has only characters of a bare string."""


class _Written:
    """Base of all values: `str` returns the SLDP text, and ``==`` compares these texts.

    Equality as an answer, with a tolerance, is `sldp_equals`. Both work at any depth of nesting.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return "".join(_pieces(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Written):
            return type(self) is type(other) and str(self) == str(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NumberValue(_Written):
    """An exact decimal number; 0 if it is too small for a double."""

    number: Decimal


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class StringValue(_Written):
    """A string without its quotes."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PointValue(_Written):
    """A point in space, with coordinates in the unit of the data set."""

    coordinates: tuple[Decimal, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ListValue(_Written):
    """Values in a significant order."""

    elements: tuple[Value, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SetValue(_Written):
    """Values whose order and repetition are insignificant; kept as written."""

    elements: tuple[Value, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DictValue(_Written):
    """Values by key, in an insignificant order; kept as written."""

    entries: tuple[tuple[Key, Value], ...]


Key: TypeAlias = NumberValue | StringValue
Container: TypeAlias = ListValue | SetValue | DictValue
Value: TypeAlias = NumberValue | StringValue | PointValue | ListValue | SetValue | DictValue


def render_sldp(value: Value) -> str:
    """Return the SLDP text of a value; parsing it gives the same value again."""
    return str(value)


def _pieces(value: object) -> Iterator[str]:
    """Yield the text of a value in pieces, left to right, without recursion."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        match part:
            case str():
                yield part
            case NumberValue():
                yield str(part.number)
            case StringValue():
                yield _string(part.text)
            case PointValue():
                yield f"POINT({' '.join(map(str, part.coordinates))})"
            case ListValue():
                waiting += reversed(["[", *_joined([(element,) for element in part.elements]), "]"])
            case SetValue():
                waiting += reversed(["<", *_joined([(element,) for element in part.elements]), ">"])
            case DictValue():
                waiting += reversed(
                    ["{", *_joined([(key, ": ", item) for key, item in part.entries]), "}"]
                )
            case _:
                message = f"not an SLDP value: {part!r}"
                raise TypeError(message)


def _joined(groups: list[tuple[object, ...]]) -> Iterator[object]:
    for index, group in enumerate(groups):
        if index:
            yield ", "
        yield from group


def _string(text: str) -> str:
    if _BARE.fullmatch(text) and not _NUMBER.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
