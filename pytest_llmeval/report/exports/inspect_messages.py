"""Messages, replies and usage in the form of Inspect's logs (`inspect_ai.model`)."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pytest_llmeval.records import (
    Image,
    Json,
    Message,
    ModelCall,
    Reply,
    TextPart,
    ToolCall,
    Usage,
)

_STOP: Final = {
    "stop": "stop",
    "length": "max_tokens",
    "refusal": "content_filter",
    "filter": "content_filter",
    "tool_calls": "tool_calls",
}
"""Inspect's stop reasons by ours."""

_MOST_LEVELS: Final = 100
"""Levels of a tool's arguments that are told as an object: Inspect reads no log of 200."""


@dataclass(slots=True)
class InspectMessages:
    """Turns the messages of one sample into Inspect's.

    Attributes:
        attachments: the pictures met, as data URLs, under the names that stand in the messages.
    """

    attachments: dict[str, str] = field(default_factory=dict)

    def conversation(self, messages: Sequence[Message]) -> list[Json]:
        """Return messages in order; a tool's message gets the name of the tool that was called."""
        names = {call.id: call.name for message in messages for call in message.tool_calls}
        return [self._message(message, names) for message in messages]

    def reply(self, reply: Reply) -> dict[str, Json]:
        """Return a reply as an assistant's message, its reasoning in a part of its own."""
        parts: list[Json] = [{"type": "text", "text": reply.text}]
        if reply.reasoning:
            parts.insert(0, {"type": "reasoning", "reasoning": reply.reasoning})
        parts += [self._image(image) for image in reply.images]
        return {
            "role": "assistant",
            "source": "generate",
            "content": reply.text if len(parts) == 1 else parts,
            "model": reply.model,
            "tool_calls": list(map(_tool_call, reply.tool_calls)) or None,
        }

    def output(self, call: ModelCall | None) -> dict[str, Json]:
        """Return a call's reply as Inspect's `ModelOutput`; without a call an empty one."""
        if call is None:
            return {"model": "", "choices": []}
        choice: Json = {
            "message": self.reply(call.reply),
            "stop_reason": _STOP[call.reply.stop_reason],
        }
        return {
            "model": call.reply.model or call.asked.model,
            "choices": [choice],
            "completion": call.reply.text,
            "usage": usage(call.reply.usage),
            "time": call.reply.latency,
        }

    def _message(self, message: Message, names: dict[str, str]) -> Json:
        content: Json = message.text
        if message.images:
            content = [
                {"type": "text", "text": part.text}
                if isinstance(part, TextPart)
                else self._image(part.image)
                for part in message.parts
            ]
        found: dict[str, Json] = {"role": message.role, "content": content}
        if message.role == "assistant":
            found["tool_calls"] = list(map(_tool_call, message.tool_calls)) or None
        if message.role == "tool":
            called = message.tool_call_id or ""
            found |= {"tool_call_id": called, "function": names.get(called)}
        return found

    def _image(self, image: Image) -> Json:
        """Return a picture: a reference to its bytes, or its path where it cannot be read."""
        if image.digest not in self.attachments:
            try:
                data = base64.b64encode(image.read()).decode()
            except OSError:
                return {"type": "image", "image": image.path}
            self.attachments[image.digest] = f"data:{image.media_type};base64,{data}"
        return {"type": "image", "image": f"attachment://{image.digest}"}


def usage(found: Usage) -> dict[str, Json]:
    """Return tokens as Inspect counts them: those of caches are no part of its input tokens."""
    return {
        "input_tokens": found.input_tokens - found.cached_tokens - found.cache_write_tokens,
        "input_tokens_cache_read": found.cached_tokens,
        "input_tokens_cache_write": found.cache_write_tokens,
        "output_tokens": found.output_tokens,
        "reasoning_tokens": found.reasoning_tokens,
        "total_tokens": found.total_tokens,
        "total_cost": found.cost,
    }


def arguments_of(text: str) -> tuple[dict[str, Json], str | None]:
    """Return the arguments of a tool as an object, and what is wrong with them, if anything.

    Arguments that are no object, or nest too deeply, stand as text under the key ``arguments``.
    """
    try:
        found: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        return {"arguments": text}, f"not JSON: {error}"
    if not isinstance(found, dict):
        return {"arguments": text}, "not a JSON object"
    if _levels(found) > _MOST_LEVELS:
        return {"arguments": text}, f"nested more than {_MOST_LEVELS} levels deep"
    return found, None


def _levels(value: Json) -> int:
    """Return how deeply lists and objects nest; 0 for a single value."""
    levels, inner = 0, [value]
    while inner := [one for one in inner if isinstance(one, dict | list)]:
        levels += 1
        inner = [
            child for one in inner for child in (one.values() if isinstance(one, dict) else one)
        ]
    return levels


def _tool_call(call: ToolCall) -> Json:
    arguments, problem = arguments_of(call.arguments)
    return {"id": call.id, "function": call.name, "arguments": arguments, "parse_error": problem}
