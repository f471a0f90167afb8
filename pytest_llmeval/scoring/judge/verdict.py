"""Strict parsing of a judge's reply.

A reply is usable if it is one JSON object with exactly the demanded keys, each once; white space
around it and a single code fence are allowed. Any other text makes it unusable: it may quote the
candidate, and the candidate may hold a verdict of its own.
"""

from __future__ import annotations

import json
import re
from typing import Final

from pytest_llmeval.records import Json, Verdict

REPLY_LIMIT: Final = 20_000
"""Characters. A reply of 512 tokens is far shorter; longer ones are not parsed."""

REASON_LIMIT: Final = 2_000
"""Characters of a reason that are kept."""

_FENCED: Final = re.compile(
    r"```(?:json)?[ \t]*\n(?P<object>.*)\n[ \t]*```", re.DOTALL | re.IGNORECASE
)


def judge_verdict(reply: str) -> Verdict | None:
    """Return the verdict that a reply states, or None when it is unusable.

    Its keys are ``answer_correct`` (the integer 0 or 1; not a boolean, a float or a string) and
    ``reason`` (a string).

    Example:
        >>> judge_verdict('{"answer_correct": 1, "reason": "both are 5"}')
        Verdict(correct=True, reason='both are 5')
        >>> judge_verdict('I think so: {"answer_correct": 1, "reason": "both are 5"}')
    """
    data = strict_object(reply, {"answer_correct", "reason"})
    if data is None:
        return None
    correct, reason = data["answer_correct"], data["reason"]
    if type(correct) is not int or correct not in (0, 1) or not isinstance(reason, str):
        return None
    return Verdict(correct=correct == 1, reason=kept(reason))


def strict_object(reply: str, keys: set[str]) -> dict[str, Json] | None:
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
    return data if isinstance(data, dict) and data.keys() == keys else None


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
