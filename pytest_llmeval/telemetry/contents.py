"""Texts of requests and replies as attributes: messages of parts, in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable

from pytest_llmeval.records import Json, Message, ModelCall, Reply, TextPart, ToolCall
from pytest_llmeval.telemetry import names
from pytest_llmeval.telemetry.span import Value


def call_contents(call: ModelCall) -> dict[str, Value]:
    """Return the messages of a request and its reply."""
    return {
        names.INPUT_MESSAGES: _json([_message(one) for one in call.asked.messages]),
        names.OUTPUT_MESSAGES: _json([_reply(call.reply)]),
    }


def _message(message: Message) -> Json:
    parts: list[Json] = [
        {"type": "text", "content": part.text}
        if isinstance(part, TextPart)
        else {"type": "image", "digest": part.image.digest, "mime_type": part.image.media_type}
        for part in message.parts
    ]
    if message.tool_call_id is not None:
        answer = {"type": "tool_call_response", "id": message.tool_call_id}
        return {"role": message.role, "parts": [{**answer, "response": message.text}]}
    return {"role": message.role, "parts": [*parts, *_tool_calls(message.tool_calls)]}


def _reply(reply: Reply) -> Json:
    parts: list[Json] = []
    if reply.reasoning:
        parts.append({"type": "reasoning", "content": reply.reasoning})
    if reply.text:
        parts.append({"type": "text", "content": reply.text})
    reason = names.STOP_REASONS.get(reply.stop_reason, reply.stop_reason)
    parts += _tool_calls(reply.tool_calls)
    return {"role": "assistant", "parts": parts, "finish_reason": reason}


def _tool_calls(calls: Iterable[ToolCall]) -> list[Json]:
    return [
        {"type": "tool_call", "id": one.id, "name": one.name, "arguments": one.arguments}
        for one in calls
    ]


def _json(value: Json) -> str:
    return json.dumps(value)
