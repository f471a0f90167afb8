"""Requests in the JSON of OpenAI's API, and of servers that speak it."""

from __future__ import annotations

import base64
from typing import Final

from pytest_llmeval.records import Image, ImagePart, Json, Message, Part, Request

_CHAT_ONLY: Final = frozenset(
    {
        "frequency_penalty",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "presence_penalty",
        "reasoning_effort",
        "stop",
        "temperature",
        "tool_choice",
        "tools",
        "top_p",
    }
)
"""Parameters of chat requests that the image API does not have."""


def chat_body(request: Request, *, completion_tokens: bool) -> dict[str, Json]:
    """Return the body of a chat completion request.

    Args:
        request: its parameters go into the body unchanged, but for one of the image API.
        completion_tokens: whether ``max_tokens`` is sent under its newer name
            ``max_completion_tokens``.
    """
    body = {
        **chat_parameters(request),
        "model": request.model,
        "messages": [_wire_message(m) for m in request.messages],
    }
    if completion_tokens and "max_tokens" in body:
        body.setdefault("max_completion_tokens", body["max_tokens"])
        del body["max_tokens"]
    return body


def chat_parameters(request: Request) -> dict[str, Json]:
    """Return the parameters that a chat has: a `response_format` in one word is the image API's."""
    return {
        name: value
        for name, value in request.parameters.items()
        if name != "response_format" or not isinstance(value, str)
    }


def image_body(request: Request) -> tuple[dict[str, Json], tuple[Image, ...]]:
    """Return the fields and the input pictures of an image request.

    All texts of the messages together are the prompt.
    """
    # A form holds no objects; the only one that a task sets is response_format, for chats.
    parameters = {
        name: value
        for name, value in request.parameters.items()
        if name not in _CHAT_ONLY and not isinstance(value, dict)
    }
    prompt = "\n\n".join(text for message in request.messages if (text := message.text))
    images = tuple(image for message in request.messages for image in message.images)
    return {**parameters, "model": request.model, "prompt": prompt}, images


def data_url(image: Image) -> str:
    """Return a picture as a data URL."""
    return f"data:{image.media_type};base64,{base64.b64encode(image.read()).decode('ascii')}"


def _wire_message(message: Message) -> Json:
    data: dict[str, Json] = {"role": message.role}
    # Plain text goes as a string: older compatible servers know no parts.
    data["content"] = (
        [_wire_part(part) for part in message.parts] if message.images else message.text
    )
    if message.tool_calls:
        data["content"] = data["content"] or None
        data["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        data["tool_call_id"] = message.tool_call_id
    return data


def _wire_part(part: Part) -> Json:
    if isinstance(part, ImagePart):
        return {"type": "image_url", "image_url": {"url": data_url(part.image)}}
    return {"type": "text", "text": part.text}
