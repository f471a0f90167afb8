"""Results of tools in a conversation, for APIs that demand one for each call in the next turn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pytest_llmeval.providers.chat_shapes import Turn


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
