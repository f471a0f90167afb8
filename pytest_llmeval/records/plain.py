"""A check that a value is plain JSON: exact built-in types that any process can read."""

from __future__ import annotations

import math

from pytest_llmeval.errors import ScorerError
from pytest_llmeval.records.record import Json

MAX_DEPTH = 50
"""Deepest nesting of lists and objects; it also stops a value that contains itself."""

MAX_INTEGER = 2**63 - 1
"""Largest magnitude of an integer: Python refuses to print integers of over 4,300 digits, and many
JSON readers stop at 64 bits."""


def plain_json(value: object, where: str) -> Json:
    """Return `value` after checking that it is plain JSON.

    Only exact types pass: a numpy.float64 is a subclass of float, but ends the xdist worker that
    sends it. NaN and infinities are refused because JSON cannot express them.

    Args:
        value: the value to check.
        where: start of the error message, such as ``sample '12', score 'length', field
            'details'``; the path inside the value is appended to it.

    Raises:
        ScorerError: the value is not plain JSON.
    """
    return _checked(value, where, depth=0)


def _checked(value: object, where: str, depth: int) -> Json:
    if depth > MAX_DEPTH:
        raise _refusal(where, f"is nested deeper than {MAX_DEPTH}", "record a flatter value")
    if value is None or type(value) is bool or type(value) is str:
        return value
    if type(value) is int:
        if abs(value) > MAX_INTEGER:
            raise _refusal(where, "is an integer of over 64 bits", "record it as a string")
        return value
    if type(value) is float:
        if not math.isfinite(value):
            raise _refusal(
                where, f"is {value}, which JSON cannot hold", "record None, or a finite number"
            )
        return value
    if type(value) is list:
        return [_checked(item, f"{where}[{index}]", depth + 1) for index, item in enumerate(value)]
    if type(value) is dict:
        return {
            _key(key, where): _checked(item, f"{where}[{key!r}]", depth + 1)
            for key, item in value.items()
        }
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    raise _refusal(where, f"is a {kind}", "convert it to bool, int, float, str, list, dict or None")


def _key(key: object, where: str) -> str:
    if type(key) is not str:
        raise _refusal(
            where, f"has the key {key!r} of type {type(key).__qualname__}", "use strings as keys"
        )
    return key


def _refusal(where: str, problem: str, fix: str) -> ScorerError:
    return ScorerError(f"{where} {problem}, not plain JSON; {fix}")
