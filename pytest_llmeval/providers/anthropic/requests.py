"""Requests in the JSON of Anthropic's Messages API."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Final

from pytest_llmeval.providers.anthropic.parameters import SAMPLING, message_parameters
from pytest_llmeval.providers.chat_shapes import Turn, arguments_of, texts_of_system, turns
from pytest_llmeval.providers.tool_rules import allowed_id
from pytest_llmeval.records import ImagePart, Json, Message, Part, Request, TextPart

VERSION: Final = "2026-10-21"
"""Version of the API: the newest one."""

SAMPLING_VERSION: Final = "2023-06-01"
"""The last version of the API that takes a temperature, `top_p` and `top_k`."""

SCHEMA_REFUSED: Final = re.compile(r"output_config|output_format|json_schema", re.IGNORECASE)
"""Messages by which an endpoint refuses the JSON schema of a request."""

_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")


def api_version(request: Request) -> str:
    """Return the version of the API in which a request is sent."""
    return SAMPLING_VERSION if SAMPLING & request.parameters.keys() else VERSION


def message_body(request: Request) -> dict[str, Json]:
    """Return the body of a request.

    The system's messages go into the field `system`, in their order. The API takes no blank texts;
    they are left out, and so are messages of nothing else.

    Raises:
        ValueError: a parameter or message has no counterpart in this API.
    """
    said = [message for message in request.messages if not _is_empty(message)]
    messages: list[Json] = [
        {"role": turn.role, "content": list(_blocks(turn))} for turn in turns(said)
    ]
    if not messages:
        msg = "the request has no text or picture besides the system's; this API needs some"
        raise ValueError(msg)
    body = {**message_parameters(request), "model": request.model, "messages": messages}
    if system := [_text(text) for text in texts_of_system(request.messages) if text.strip()]:
        body["system"] = system
    return body


def _blocks(turn: Turn) -> Iterator[Json]:
    """Yield a turn's blocks; results of tools stand before what else the user says."""
    results = [message for message in turn.messages if message.tool_call_id is not None]
    for message in results:
        yield {
            "type": "tool_result",
            "tool_use_id": allowed_id(message.tool_call_id or "", _ID),
            "content": [_block(part) for part in _shown(message)],
        }
    for message in turn.messages:
        if message.tool_call_id is not None:
            continue
        if turn.role == "assistant":
            yield from _kept(message)
        yield from (_block(part) for part in _shown(message))
        for call in message.tool_calls:
            yield {
                "type": "tool_use",
                "id": allowed_id(call.id, _ID),
                "name": call.name,
                "input": arguments_of(call),
            }


def _kept(message: Message) -> Iterator[Json]:
    """Yield the signed reasoning that came with a reply, which the API wants back in tool loops."""
    try:
        blocks = json.loads(message.continuation or "[]", parse_constant=str)
    except ValueError:
        return
    yield from (
        block
        for block in (blocks if isinstance(blocks, list) else ())
        if isinstance(block, dict) and block.get("type") in {"thinking", "redacted_thinking"}
    )


def _is_empty(message: Message) -> bool:
    called = message.tool_calls or message.tool_call_id is not None
    return not called and not any(_shown(message))


def _shown(message: Message) -> Iterator[Part]:
    """Yield the parts that are not blank."""
    for part in message.parts:
        if isinstance(part, ImagePart) or part.text.strip():
            yield part


def _block(part: Part) -> Json:
    if isinstance(part, TextPart):
        return _text(part.text)
    data = base64.b64encode(part.image.read()).decode("ascii")
    source: Json = {"type": "base64", "media_type": part.image.media_type, "data": data}
    return {"type": "image", "source": source}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}
