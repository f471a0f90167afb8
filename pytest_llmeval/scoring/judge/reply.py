"""Strict reading of a judge's reply.

A reply is usable if it is one JSON object with exactly the demanded keys, each once; white space
around it and a single code fence are allowed. Any other text makes it unusable: it may quote the
candidate, and the candidate may hold a verdict of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Final

from pytest_llmeval.records import Json
from pytest_llmeval.safety.printable import printable

REASON: Final = "reason"
"""The key of every reply that holds the judge's reason, a text."""

ONE_OBJECT: Final = "Reply with exactly one JSON object and nothing before or after it:\n"
"""How the paragraph begins that tells the judge what to reply."""

SENTENCE: Final = f'"{REASON}": "one short sentence"'
"""The reason in that paragraph."""

REPLY_LIMIT: Final = 20_000
"""Characters. A reply of 512 tokens is far shorter; longer ones are not parsed."""

REASON_LIMIT: Final = 2_000
"""Characters of a reason that are kept."""

SHOWN_OF_REPLY: Final = 200
"""Characters of a refused reply that a message shows."""

_FENCED: Final = re.compile(
    r"```(?:json)?[ \t]*\r?\n(?P<object>.*)\n[ \t]*```", re.DOTALL | re.IGNORECASE
)


def strict_object(reply: str, keys: Collection[str]) -> dict[str, Json] | None:
    """Return the JSON object with exactly `keys` that the reply consists of, or None."""
    text = reply.strip("\ufeff \t\r\n")
    if len(text) > REPLY_LIMIT:
        return None
    if fenced := _FENCED.fullmatch(text):
        text = fenced["object"]
    try:
        data = json.loads(text, object_pairs_hook=_unique_keys)
    except (ValueError, RecursionError):  # ValueError: no JSON, or a number of too many digits
        return None
    return data if isinstance(data, dict) and data.keys() == set(keys) else None


def decisions(reply: str, keys: Collection[str]) -> tuple[dict[str, Json], str] | None:
    """Return the values of `keys` and the reason that a reply consists of; None if it is unusable.

    The reason is cut as `kept` does it; the values are whatever JSON stands there.
    """
    data = strict_object(reply, {*keys, REASON})
    if data is None:
        return None
    reason = data.pop(REASON)
    return (data, kept(reason)) if isinstance(reason, str) else None


def whole_number(value: Json, low: int, high: int) -> int | None:
    """Return a value that is a whole number in `low`..`high`, written as one; else None.

    So ``true``, ``7.0`` and ``"7"`` are none.
    """
    return value if type(value) is int and low <= value <= high else None


def refused(what: str, replies: int, keys: Collection[str], last: str) -> str:
    """Return why there is no `what`: the keys that were wanted, and how the last reply began.

    Args:
        what: what the replies were to hold, such as ``verdict``.
        replies: number of replies, all of them unusable.
        keys: those of the object that was wanted.
        last: the last reply.
    """
    shown = " ".join(printable(last, SHOWN_OF_REPLY).split())
    wanted = ", ".join(keys)
    return (
        f"the judge gave no usable {what} in {replies} replies (wanted: one JSON object with the "
        f"keys {wanted} and nothing else; the last reply: {shown or 'empty'})"
    )


def kept(reason: str) -> str:
    """Return a reason as it is stored: cut to REASON_LIMIT, lone surrogates replaced."""
    return reason[:REASON_LIMIT].encode("utf-8", "replace").decode("utf-8")


def _unique_keys(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Return the object; ValueError for a repeated key, of which JSON readers take either value."""
    data = dict(pairs)
    if len(data) != len(pairs):
        msg = "a key comes twice"
        raise ValueError(msg)
    return data
