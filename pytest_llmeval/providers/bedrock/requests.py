"""Requests in the shapes of Bedrock's Converse API."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any, Final

from pytest_llmeval.providers.bedrock.parameters import converse_parameters
from pytest_llmeval.providers.chat_shapes import Turn, arguments_of, texts_of_system, turns
from pytest_llmeval.providers.tool_rules import allowed_id, check_results
from pytest_llmeval.records import ImagePart, Message, Part, Request, TextPart

REASONING: Final = "reasoningContent"
"""Member of a continuation: the reasoning of a reply as blocks, bytes in base64."""

_ID: Final = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def converse_request(request: Request) -> dict[str, Any]:
    """Return a request as the SDK's `converse` takes it.

    The system's messages become its own member, in their order. Blank texts are left out, and turns
    of nothing else. Where no tools are offered, also by the choice ``none``, which Converse has
    not, earlier calls and their results are told as text: it takes them with tools only.

    Raises:
        ValueError: a parameter or message has no counterpart in this API.
    """
    body = {**converse_parameters(request), "modelId": request.model}
    spoken = tuple(turns([message for message in request.messages if _says(message)]))
    if not spoken or spoken[0].role != "user":
        what = "begins with the assistant" if spoken else "has no text or picture"
        msg = f"the conversation {what}; this API demands a message of the user first"
        raise ValueError(msg)
    check_results(spoken)
    blocks = _blocks if "toolConfig" in body else _told_blocks
    body["messages"] = [{"role": turn.role, "content": list(blocks(turn))} for turn in spoken]
    system = [{"text": text} for text in texts_of_system(request.messages) if text.strip()]
    if system:
        body["system"] = system
    return body


def _says(message: Message) -> bool:
    """Return whether a message has more than blank texts, which Converse refuses."""
    shown = any(True for _ in _shown(message))
    return shown or bool(message.tool_calls) or message.tool_call_id is not None


def _shown(message: Message) -> Iterator[Part]:
    for part in message.parts:
        if isinstance(part, ImagePart) or part.text.strip():
            yield part


def _blocks(turn: Turn) -> Iterator[dict[str, Any]]:
    """Yield a turn's blocks; results of tools stand before what else the user says."""
    for message in turn.messages:
        if message.tool_call_id is not None:
            content = [_block(part) for part in _shown(message)]
            yield {
                "toolResult": {
                    "toolUseId": allowed_id(message.tool_call_id, _ID),
                    "content": content,
                }
            }
    for message in turn.messages:
        if message.tool_call_id is not None:
            continue
        yield from _reasoning(message)
        yield from (_block(part) for part in _shown(message))
        for call in message.tool_calls:
            if not _NAME.fullmatch(call.name):
                msg = f"a call of {call.name!r} has no counterpart in this API: no tool is so named"
                raise ValueError(msg)
            use = {
                "toolUseId": allowed_id(call.id, _ID),
                "name": call.name,
                "input": arguments_of(call),
            }
            yield {"toolUse": use}


def _told_blocks(turn: Turn) -> Iterator[dict[str, Any]]:
    """Yield a turn's blocks with calls and results as text."""
    for message in turn.messages:
        if message.tool_call_id is not None:
            yield {"text": f"Result of {message.tool_call_id}:"}
        yield from (_block(part) for part in _shown(message))
        for call in message.tool_calls:
            yield {"text": f"Call {call.id}: {call.name}({call.arguments})"}


def _block(part: Part) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"text": part.text}
    source = {"bytes": part.image.read()}
    return {"image": {"format": part.image.media_type.removeprefix("image/"), "source": source}}


def _reasoning(message: Message) -> Iterator[dict[str, Any]]:
    """Yield the signed reasoning of a reply that the message repeats: Claude demands it back."""
    try:
        kept = json.loads(message.continuation or "{}")
        found = kept.get(REASONING) if isinstance(kept, dict) else None
        blocks = [block for block in found or () if isinstance(block, dict)]
    except (ValueError, TypeError):
        return
    for block in blocks:
        if isinstance(hidden := block.get("redactedContent"), str):
            yield {"reasoningContent": {"redactedContent": base64.b64decode(hidden)}}
        else:
            yield {"reasoningContent": block}
