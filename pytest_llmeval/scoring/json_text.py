"""JSON in a model's text: found, bounded, parsed strictly."""

from __future__ import annotations

import json
import math
import re
from typing import Final, NoReturn

from pytest_llmeval.records import Json

LONGEST_JSON: Final = 1_000_000
"""Characters."""

DEEPEST_JSON: Final = 100
"""Objects and lists in each other."""

_FENCE = re.compile(r"^[ \t]*(?P<fence>```+|~~~+)[^\n`]*\n", re.MULTILINE)
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*"?|[\[{]|[\]}]', re.DOTALL)


def read_json(text: str) -> Json:
    """Return the JSON value that `text` is, or that its one code fence holds.

    Raises:
        ValueError: it is none, too long or too deep, names a key twice, holds a number that JSON
            lacks (NaN, infinite), or there are several code fences.
    """
    if len(text) > LONGEST_JSON:
        msg = f"longer than {LONGEST_JSON} characters"
        raise ValueError(msg)
    source = _unfenced(text)
    depth = 0
    for token in _TOKEN.finditer(source):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > DEEPEST_JSON:
            msg = f"deeper than {DEEPEST_JSON} levels"
            raise ValueError(msg)
    try:
        value: Json = json.loads(
            source, object_pairs_hook=_object, parse_constant=_refused, parse_float=_finite
        )
    except RecursionError:
        msg = "too deep"
        raise ValueError(msg) from None
    return value


def comparable_json(value: Json) -> object:
    """Return a hashable form of `value`: equal for equal JSON (1 is 1.0, and true is not 1)."""
    if isinstance(value, dict):
        return ("object", frozenset((key, comparable_json(one)) for key, one in value.items()))
    if isinstance(value, list):
        return ("list", tuple(map(comparable_json, value)))
    return (isinstance(value, bool), value)


def _unfenced(text: str) -> str:
    fences = list(_FENCE.finditer(text + "\n"))
    if not fences:
        return text
    if len(fences) != 2:  # noqa: PLR2004 - the two ends of one block
        msg = "not one code fence" if len(fences) > 1 else "a code fence without an end"
        raise ValueError(msg)
    opening, closing = fences
    return text[opening.end() : closing.start()]


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        msg = f"the key {twice!r} stands twice in one object"
        raise ValueError(msg)
    return found


def _refused(name: str) -> NoReturn:
    msg = f"{name} is no JSON"
    raise ValueError(msg)


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        msg = f"the number {text[:40]} is too large"
        raise ValueError(msg)
    return number
