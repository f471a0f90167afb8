"""A solution in SLDP, from Python values and from the rows of a query."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Final

from pytest_llmeval.domains.heracles.questions.draft import Answer
from pytest_llmeval.domains.heracles.questions.property_graph import Position
from pytest_llmeval.domains.heracles.rows import natural
from pytest_llmeval.scoring.sldp import (
    DictValue,
    Key,
    ListValue,
    NumberValue,
    PointValue,
    SetValue,
    StringValue,
    Value,
    parse_sldp,
)

_DIGITS: Final = 4
"""Digits after the point: answers may be rounded to two, and are compared by 0.01."""

_CELL: Final = re.compile(r'((?:"(?:[^"\\]|\\.)*"|(?! \| )[^"])+)(?: \| |$)')
"""A value in a row of text: everything up to the end or to ``|`` outside of strings."""


class MisshapenError(ValueError):
    """Rows that have not the form of the solution; the text says why."""


def sldp_value(answer: Answer) -> Value:
    """Return an answer as a value of SLDP; sets and dicts are sorted, for the same text always."""
    match answer:
        case Position():
            return PointValue(coordinates=tuple(map(_decimal, answer.coordinates)))
        case int() | float() | str():
            return _key(answer)
        case AbstractSet():
            return SetValue(elements=tuple(sorted(map(sldp_value, answer), key=_order)))
        case Mapping():
            entries = ((_key(key), sldp_value(answer[key])) for key in answer)
            return DictValue(entries=tuple(sorted(entries, key=lambda entry: _order(entry[0]))))
        case _:
            return ListValue(elements=tuple(map(sldp_value, answer)))


def value_of_rows(text: str, like: Answer) -> Value:
    """Return what a query's rows say, as a model reads them, in the form of a known solution.

    A set or list are the values of the first column, a dict those of the first two, anything else
    the only value there is.

    Args:
        text: rows as `rows.RowsWriter` writes them, not cut.
        like: the solution.

    Raises:
        MisshapenError: the rows have another form.
        SldpSyntaxError: a value in them is no SLDP.
    """
    rows = [[parse_sldp(cell) for cell in _CELL.findall(line)] for line in text.split("\n")[1:-1]]
    first = tuple(row[0] for row in rows)
    if isinstance(like, Mapping):
        entries = tuple((_as_key(row[0]), row[1]) for row in rows)
        return DictValue(entries=entries)
    if isinstance(like, AbstractSet):
        if len({*first}) != len(first):
            msg = "rows that repeat a value"
            raise MisshapenError(msg)
        return SetValue(elements=first)
    if isinstance(like, Sequence) and not isinstance(like, str | Position):
        return ListValue(elements=first)
    if len(first) != 1:
        msg = "not exactly one row"
        raise MisshapenError(msg)
    return first[0]


def copyable(answer: Answer) -> bool:
    """Return whether the texts in an answer read the same in rows and in SLDP.

    Rows write control characters as escapes, which SLDP does not know.
    """
    match answer:
        case str():
            return not any(sign < " " for sign in answer)
        case Mapping():
            return all(copyable(key) and copyable(answer[key]) for key in answer)
        case AbstractSet() | list():
            return all(map(copyable, answer))
        case _:
            return True


def _key(value: str | float) -> Key:
    if isinstance(value, str):
        return StringValue(text=value)
    return NumberValue(number=_decimal(value))


def _as_key(value: Value) -> Key:
    if isinstance(value, NumberValue | StringValue):
        return value
    msg = "a key that is neither number nor text"
    raise MisshapenError(msg)


def _decimal(number: float) -> Decimal:
    """Return a number as people would write it, without zeros at its end."""
    if isinstance(number, int):
        return Decimal(number)
    text = f"{number:.{_DIGITS}f}".rstrip("0")
    return Decimal(f"{text}0" if text.endswith(".") else text) if float(text) else Decimal(0)


def _order(value: Value) -> list[str | tuple[int, str]]:
    return natural(str(value))
