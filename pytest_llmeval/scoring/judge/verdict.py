"""A judge's reply, read strictly: either exactly the demanded JSON object, or nothing at all.

Usable is one JSON object with just the demanded keys, each once; white space around it and a single
code fence are allowed. Any other text beside the object makes the reply unusable: it may quote the
candidate, and the candidate may hold a verdict of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Set  # noqa: PYI025 - the name of the abstract class
from typing import Final

from pytest_llmeval.records import Json, Verdict

REPLY_LIMIT: Final = 20_000
"""Characters; a longer reply is none that 512 tokens could make, and is not parsed."""

REASON_LIMIT: Final = 2_000
"""Characters of a reason that are kept."""

_FENCED: Final = re.compile(
    r"```(?:json)?[ \t]*\n(?P<object>.*)\n[ \t]*```", re.DOTALL | re.IGNORECASE
)


def judge_verdict(reply: str) -> Verdict | None:
    """Return the verdict that `reply` states, or None when it is unusable.

    Its keys are ``answer_correct`` (the integer 0 or 1; not a boolean, a float or a string) and
    ``reason`` (a string).
    """
    data = json_object(reply, {"answer_correct", "reason"})
    if data is None:
        return None
    correct, reason = data["answer_correct"], data["reason"]
    if type(correct) is not int or correct not in (0, 1) or not isinstance(reason, str):
        return None
    return Verdict(equivalent=correct == 1, reason=kept_reason(reason))


def json_object(reply: str, keys: Set[str]) -> dict[str, Json] | None:
    """Return the one JSON object with just these keys that `reply` consists of, or None.

    None too for anything beside the object (but white space and one code fence), a repeated key,
    or a reply of over REPLY_LIMIT characters.
    """
    text = reply.strip("\ufeff \t\r\n")
    if len(text) > REPLY_LIMIT:
        return None
    if fenced := _FENCED.fullmatch(text):
        text = fenced["object"]
    try:
        data = json.loads(text, object_pairs_hook=_without_repeats)
    except (
        ValueError,
        RecursionError,
    ):  # ValueError covers JSONDecodeError and numbers of too many digits
        return None
    return data if isinstance(data, dict) and data.keys() == keys else None


def _without_repeats(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Return the object; ValueError when a key comes twice, since readers would disagree on which one counts."""
    data = dict(pairs)
    if len(data) != len(pairs):
        msg = "a key comes twice"
        raise ValueError(msg)
    return data


def kept_reason(reason: str) -> str:
    """Return the reason as it is stored: at most REASON_LIMIT characters, no lone surrogates."""
    return reason[:REASON_LIMIT].encode("utf-8", "replace").decode("utf-8")
