"""Values between two processes, as lines of JSON.

Values of the types below go as they are, and those of a subclass as the type that it is made from.
Any other object stays in the process of the program, and goes as a number, its *handle*. What a
line says is never run: whoever writes it chooses values, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

LONGEST: Final = 16 << 20
"""Bytes of one line."""

_HANDLE: Final = "object"
_EXACT_IN_JSON: Final = 1 << 53

_TAGGED: Final[tuple[tuple[str, type, Callable[[Any], object], Callable[[Any], object]], ...]] = (
    ("int", int, hex, lambda text: int(text, 16)),
    ("tuple", tuple, list, tuple),
    ("set", set, list, set),
    ("frozenset", frozenset, list, frozenset),
    ("dict", dict, lambda value: [[key, one] for key, one in dict.items(value)], dict),
    ("bytes", bytes, bytes.hex, bytes.fromhex),
    ("bytearray", bytearray, bytearray.hex, bytearray.fromhex),
    ("complex", complex, lambda value: [value.real, value.imag], lambda parts: complex(*parts)),
    ("range", range, lambda r: [r.start, r.stop, r.step], lambda bounds: range(*bounds)),
    ("Decimal", Decimal, str, Decimal),
    ("Fraction", Fraction, lambda f: [f.numerator, f.denominator], lambda f: Fraction(*f)),
    ("datetime", datetime, datetime.isoformat, datetime.fromisoformat),
    ("date", date, date.isoformat, date.fromisoformat),
    ("time", time, time.isoformat, time.fromisoformat),
    (
        "timedelta",
        timedelta,
        lambda d: [d.days, d.seconds, d.microseconds],
        lambda d: timedelta(*d),
    ),
)
"""Tag, type, to what JSON can hold (parts of it may be values again), and back.

Of types that inherit from one another the nearer comes first: datetime is a date.
"""

_MAKERS: Final[Mapping[str, Callable[[Any], object]]] = {tag: back for tag, _, _, back in _TAGGED}


def to_line(message: object, keep: Callable[[object], int]) -> bytes:
    """Return a message as a line.

    Args:
        message: a value.
        keep: returns the handle of an object that is no value.

    Raises:
        ValueError, RecursionError: it is too long, or nested too deep.
    """
    line = json.dumps(_plain(message, keep)).encode() + b"\n"
    if len(line) > LONGEST:
        msg = f"a value of more than {LONGEST >> 20} MB"
        raise ValueError(msg)
    return line


def from_line(line: bytes, find: Callable[[int], object]) -> Any:  # noqa: ANN401 - any value
    """Return the message in a line.

    Args:
        line: what `to_line` returned, or anything.
        find: returns what stands for a handle.

    Raises:
        Exception: of any class, if nothing like `to_line` wrote the line.
    """

    def made(tagged: dict[str, Any]) -> object:
        [(tag, content)] = tagged.items()
        return find(content) if tag == _HANDLE else _MAKERS[tag](content)

    return json.loads(line, object_hook=made)


def _plain(value: object, keep: Callable[[object], int]) -> object:
    """Return what JSON can hold; numbers are as exact as they were."""
    if value is None or isinstance(value, bool | float | str):
        return value
    if isinstance(value, list):
        return [_plain(one, keep) for one in list.__iter__(value)]
    if isinstance(value, int) and -_EXACT_IN_JSON <= value <= _EXACT_IN_JSON:
        return value
    for tag, kind, content, _ in _TAGGED:
        if isinstance(value, kind):
            return {tag: _plain(content(value), keep)}
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        return _plain(value.item(), keep)  # type: ignore[attr-defined]  # a number of numpy's
    return {_HANDLE: keep(value)}
