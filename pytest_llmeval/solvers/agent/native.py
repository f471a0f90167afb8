"""Calls by the provider's own interface: ``tools`` of chat completions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from pytest_llmeval.engine.tool import Tool
from pytest_llmeval.records import Json, Message, Reply, TextPart, ToolCall
from pytest_llmeval.scoring.trajectory.written_call import WrittenCall, native_call


@dataclass(frozen=True, slots=True)
class NativeCalling:
    """Offers `tools` in the request's parameters, and forbids calls in the last turn."""

    tools: Sequence[Tool]
    described = ""

    def parameters(self, *, last: bool) -> dict[str, Json]:
        """Return the tools, in the form of chat completions."""
        offered: list[Json] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                },
            }
            for tool in self.tools
        ]
        return {"tools": offered, "tool_choice": "none"} if last else {"tools": offered}

    def opened(self, messages: Sequence[Message], *, last: bool) -> Sequence[Message]:  # noqa: ARG002 - as `told`
        """Return the messages as they are."""
        return messages

    def read(self, reply: Reply) -> Sequence[WrittenCall]:
        """Return the calls that stand in the reply's own field."""
        return [native_call(call) for call in reply.tool_calls]

    def told(
        self,
        reply: Reply,
        calls: Sequence[WrittenCall],
        results: Sequence[str],
        *,
        number: int,
        last: bool,  # noqa: ARG002 - the request's parameters tell it
    ) -> Sequence[Message]:
        """Return the assistant's message and one of the role ``tool`` for each call.

        Every provider accepts them in the next request. Ids are numbered anew: some servers send
        none or the same one twice, and Mistral's accept only nine letters and digits.
        """
        known = {tool.name for tool in self.tools}
        sent = tuple(
            ToolCall(
                id=f"call{place:05}",
                name=call.name if call.name in known else self.tools[0].name,
                arguments="{}" if read.arguments is None else call.arguments,
            )
            for place, (call, read) in enumerate(
                zip(reply.tool_calls, calls, strict=True), start=number
            )
        )
        parts = (TextPart(text=reply.text),) if reply.text else ()
        return [
            Message(
                role="assistant", parts=parts, tool_calls=sent, continuation=reply.continuation
            ),
            *(
                replace(Message.of("tool", result), tool_call_id=call.id)
                for call, result in zip(sent, results, strict=True)
            ),
        ]
