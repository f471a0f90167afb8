"""Calls in the text of replies, for models without an interface for tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from pytest_llmeval.engine.tool import Tool
from pytest_llmeval.records import Json, Message, Reply, TextPart
from pytest_llmeval.scoring.trajectory.call_text import CLOSE, OPEN, written_calls
from pytest_llmeval.scoring.trajectory.written_call import WrittenCall
from pytest_llmeval.solvers.agent.description import described_tools

RULES: Final = f"""\
You call a tool by writing, in your reply:

{OPEN}name(argument=value, other_argument=value){CLOSE}

A value is a number, true, false, null, a text in quotes ("..." or '...', with a backslash before
a quote inside it, or \"\"\"...\"\"\" for several lines), a list or a dictionary. A reply may hold
several calls. Stop after them: their results come in the next message, and nothing else in a reply
with a call is read. A reply without a call is your final one. These are the tools:"""

LAST: Final = "Your next reply is the last one: answer without calling a tool."

_SHOWN_NAME = 64


@dataclass(frozen=True, slots=True)
class TextCalling:
    """Finds calls between tags in replies, and tells their results as the user."""

    tools: Sequence[Tool]

    @property
    def described(self) -> str:
        """How to write a call, and the tools."""
        return f"{RULES}\n\n{described_tools(self.tools)}"

    def parameters(self, *, last: bool) -> dict[str, Json]:  # noqa: ARG002 - part of the port
        """Return nothing: the prompt tells of the tools, and a message of the last turn."""
        return {}

    def opened(self, messages: Sequence[Message], *, last: bool) -> Sequence[Message]:
        """Return the messages; before the last turn they end with that it is the last."""
        if not last:
            return messages
        *before, question = messages
        told = (*question.parts, TextPart(text=f"\n\n{LAST}"))
        return [*before, replace(question, parts=told)]

    def read(self, reply: Reply) -> Sequence[WrittenCall]:
        """Return the calls between the reply's tags, also in front of or inside an answer."""
        return written_calls(reply.text)

    def told(
        self,
        reply: Reply,
        calls: Sequence[WrittenCall],
        results: Sequence[str],
        *,
        number: int,
        last: bool,
    ) -> Sequence[Message]:
        """Return the reply, and one message of the user with all results."""
        parts = [
            f"Result of call {place}{_named(call)}:\n{result}"
            for place, (call, result) in enumerate(zip(calls, results, strict=True), start=number)
        ]
        text = "\n\n".join([*parts, *([LAST] if last else [])])
        return [Message.of("assistant", reply.text), Message.of("user", text)]


def _named(call: WrittenCall) -> str:
    return f", {call.name[:_SHOWN_NAME]}" if call.name else ""
