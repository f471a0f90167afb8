"""JSON objects in the bodies of an API's replies, and what makes a body none."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from pytest_llmeval.records import Json

Object: TypeAlias = Mapping[str, Json]
"""A JSON object from outside: any member may be missing, or of another type."""

_MOST_DIGITS: Final = 300


class UnreadableReplyError(ValueError):
    """The body is cut short, no JSON, or of another shape than the API's."""


class ServedError(Exception):
    """A body of status 200 that holds an error.

    Attributes:
        code: the error's status, if it has one.
        name: its code in words, such as ``content_filter``; "" if it has none.
    """

    def __init__(self, message: str, code: int | None, *, name: str = "") -> None:
        """Take the server's message, status and code."""
        super().__init__(message)
        self.code, self.name = code, name


def load(body: bytes) -> Object:
    """Return the JSON object in a body; UnreadableReplyError when it is none.

    A byte that is no UTF-8 becomes U+FFFD, and control characters may stand in strings as they are:
    the reply came whole and is paid, and asking again would bring the like of it.
    """
    try:
        text = body.decode(json.detect_encoding(body), "replace")
        data = json.loads(text, strict=False, parse_int=_integer)
    except (ValueError, RecursionError) as error:
        msg = f"it is no JSON ({len(body)} bytes)"
        raise UnreadableReplyError(msg) from error
    return json_object(data)


def _integer(digits: str) -> int | float:
    """Return an integer; as a float if it has more digits than `int` takes."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


def json_object(value: Json) -> Object:
    """Return a JSON object; UnreadableReplyError when the value is none."""
    if not isinstance(value, dict):
        msg = f"an object is missing where {type(value).__name__} stands"
        raise UnreadableReplyError(msg)
    return value


def objects(value: Json) -> Iterator[Object]:
    """Yield the JSON objects in `value`, if that is a list; otherwise nothing."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def clean(value: Json) -> str:
    """Return a string without half surrogate pairs, which JSON may hold and UTF-8 may not."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""
