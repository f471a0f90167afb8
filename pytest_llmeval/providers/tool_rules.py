"""What most APIs demand of tools, of calls, and of results."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from itertools import pairwise

from pytest_llmeval.providers.chat_shapes import Turn, chosen_function
from pytest_llmeval.records import Json


def check_tools(names: Sequence[str], allowed: re.Pattern[str], *, chosen: Json) -> None:
    """Check the tools that a request offers.

    Args:
        names: of the functions.
        allowed: matches the names that the API takes.
        chosen: the choice among them, in OpenAI's shape.

    Raises:
        ValueError: a name is not allowed or stands there twice, or the chosen one is none of them.
    """
    for name in names:
        if not allowed.fullmatch(name):
            msg = f"the tool's name {name!r} is none in this API; letters, digits and _ always are"
            raise ValueError(msg)
        if names.count(name) > 1:
            msg = f"two tools have the name {name!r}"
            raise ValueError(msg)
    if (wanted := chosen_function(chosen)) is not None and wanted not in names:
        msg = f"tool_choice names {wanted!r}, which is none of the tools"
        raise ValueError(msg)


def allowed_id(text: str, allowed: re.Pattern[str]) -> str:
    """Return the id of a call, or one for it of hexadecimal digits where an API forbids it.

    Ids that differ stay different.
    """
    if allowed.fullmatch(text):
        return text
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def check_results(turns: Sequence[Turn]) -> None:
    """Check that each call has one result in the next turn, and each result a call.

    Raises:
        ValueError: one has none, or two calls of a turn have one id.
    """
    for before, turn in pairwise((Turn("user", ()), *turns, Turn("user", ()))):
        called = [call.id for message in before.messages for call in message.tool_calls]
        told = [
            message.tool_call_id for message in turn.messages if message.tool_call_id is not None
        ]
        if twice := [one for one in called if called.count(one) > 1]:
            msg = f"two tool calls of one message have the id {twice[0]!r}"
            raise ValueError(msg)
        if missing := [one for one in called if one not in told]:
            msg = f"the tool call {missing[0]!r} has no result in the next messages"
            raise ValueError(msg)
        if strange := [one for one in told if one not in called or told.count(one) > 1]:
            msg = f"a tool's result answers {strange[0]!r}, which is no open call"
            raise ValueError(msg)
