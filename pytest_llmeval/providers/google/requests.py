"""Requests in the shapes of Google's Gemini API, by the classes of its SDK."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from google.genai import types
from pydantic import ValidationError

from pytest_llmeval.providers.bodies import clean
from pytest_llmeval.providers.chat_shapes import Turn, arguments_of, texts_of_system, turns
from pytest_llmeval.providers.google.parameters import generation_parameters
from pytest_llmeval.providers.tool_rules import check_results
from pytest_llmeval.records import ImagePart, Message, Part, Request, ToolCall

_ROLES: Final = {"user": "user", "assistant": "model"}

SIGNATURES: Final = "thoughtSignatures"
"""Member of a continuation: for each tool call of a reply its signature in base64, or null."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the SDK takes it."""

    contents: list[types.Content]
    config: types.GenerateContentConfig


def asked(request: Request) -> Asked:
    """Return a request in the SDK's classes.

    The system's messages become the system instruction, in their order. For a picture all messages
    together are one prompt: models that draw take no system instruction. Empty texts are left out.

    Raises:
        ValueError: a parameter or message has no counterpart in this API.
    """
    drawing = request.operation == "image"
    contents = _drawing(request.messages) if drawing else _conversation(request.messages)
    if not contents:
        msg = "the request has no text or picture besides the system's; this API needs some"
        raise ValueError(msg)
    config = dict(generation_parameters(request))
    system = () if drawing else texts_of_system(request.messages)
    if parts := [{"text": clean(text)} for text in system if text]:
        config["system_instruction"] = {"role": "user", "parts": parts}
    try:
        return Asked(
            [types.Content.model_validate(content) for content in contents],
            types.GenerateContentConfig.model_validate(config),
        )
    except ValidationError as error:
        raise ValueError(_first(error)) from None


def _first(error: ValidationError) -> str:
    """Return what is wrong first, without the value: that may be a whole prompt."""
    found = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, found["loc"]))
    return f"{place}: {found['msg']}"


def _drawing(messages: Sequence[Message]) -> list[dict[str, Any]]:
    parts = [part for message in messages for part in _shown(message)]
    return [{"role": "user", "parts": parts}] if parts else []


def _conversation(messages: Sequence[Message]) -> list[dict[str, Any]]:
    spoken = tuple(turns([message for message in messages if _says(message)]))
    check_results(spoken)
    return list(_contents(spoken))


def _contents(spoken: Sequence[Turn]) -> Iterator[dict[str, Any]]:
    names: dict[str, str] = {}
    for turn in spoken:
        yield {
            "role": _ROLES[turn.role],
            "parts": [part for message in turn.messages for part in _parts(message, names)],
        }
        names = {call.id: call.name for message in turn.messages for call in message.tool_calls}


def _says(message: Message) -> bool:
    shown = any(isinstance(part, ImagePart) or part.text for part in message.parts)
    return shown or bool(message.tool_calls) or message.tool_call_id is not None


def _parts(message: Message, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield a message's parts; `names` are the functions' by the ids of the calls before it."""
    if message.tool_call_id is not None:
        yield {
            "function_response": {
                "id": message.tool_call_id,
                "name": names[message.tool_call_id],
                "response": {"output": clean(message.text)},
            }
        }
        yield from (_part(part) for part in message.parts if isinstance(part, ImagePart))
        return
    yield from _shown(message)
    signatures = _signatures(message)
    for number, call in enumerate(message.tool_calls):
        signature = signatures[number] if number < len(signatures) else None
        yield {
            "function_call": _function_call(call),
            **({"thought_signature": signature} if signature else {}),
        }


def _function_call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "name": call.name, "args": arguments_of(call)}


def _shown(message: Message) -> Iterator[dict[str, Any]]:
    for part in message.parts:
        if isinstance(part, ImagePart) or part.text:
            yield _part(part)


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, ImagePart):
        return {"inline_data": {"mime_type": part.image.media_type, "data": part.image.read()}}
    return {"text": clean(part.text)}


def _signatures(message: Message) -> list[bytes | None]:
    """Return the signature of each call in a reply that the message repeats.

    Gemini 3 refuses a call of its own that comes back without.
    """
    try:
        kept = json.loads(message.continuation or "{}")
        found = kept.get(SIGNATURES) if isinstance(kept, dict) else None
        return [
            base64.b64decode(one) if isinstance(one, str) else None
            for one in (found if isinstance(found, list) else ())
        ]
    except ValueError:
        return []
