"""Replies in the JSON of Google's Gemini API."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

from pytest_llmeval.engine.ports import ImageStore
from pytest_llmeval.providers.bodies import (
    Object,
    ServedError,
    UnreadableReplyError,
    clean,
    json_object,
    load,
    objects,
)
from pytest_llmeval.providers.google.requests import SIGNATURES
from pytest_llmeval.providers.reply_pictures import reply_pictures
from pytest_llmeval.records import Json, Reply, StopReason, ToolCall, Usage
from pytest_llmeval.records.figures import token_count

_LENGTH: Final = frozenset({"MAX_TOKENS", "CONTINUATION"})
_FILTER: Final = frozenset(
    {
        *("SAFETY", "RECITATION", "LANGUAGE", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
        *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "IMAGE_OTHER"),
        *("MODEL_ARMOR", "ESCALATION"),
    }
)
"""Finish reasons of a service that did not let the model finish; ``OTHER`` is one that it keeps to
itself."""

_REFUSED: Final = {"MISSING_THOUGHT_SIGNATURE": 400, "PUP_LIMITED_DISABLED": 403}
"""Finish reasons that are failures of the request or of the account, by the status they amount
to."""


def read_generated(body: bytes, images: ImageStore) -> Reply:
    """Return the reply in the body of a response, without its latency.

    A prompt that is blocked is a reply too, ended by ``filter``.

    Raises:
        UnreadableReplyError: the body is no response.
        ServedError: the response is a failure.
    """
    data = load(body)
    candidate = next(objects(data.get("candidates")), None)
    if candidate is None:
        return _without_candidate(data)
    finish = str(candidate.get("finishReason") or "")
    if finish in _REFUSED:
        words = clean(candidate.get("finishMessage"))
        raise ServedError(f"{finish} {words}".strip(), _REFUSED[finish], name=finish)
    content = candidate.get("content")
    parts = list(objects(content.get("parts"))) if isinstance(content, dict) else []
    shown = [part for part in parts if part.get("thought") is not True]
    calls = [part for part in shown if isinstance(part.get("functionCall"), dict)]
    pictures = reply_pictures(_pictures(shown), images)
    return Reply(
        text=_texts(shown),
        stop_reason=_stop_reason(finish, calls=bool(calls)),
        images=pictures.kept,
        image_problems=pictures.problems,
        tool_calls=tuple(_tool_call(part, number) for number, part in enumerate(calls)),
        usage=_usage(data),
        model=clean(data.get("modelVersion")),
        reasoning=_texts(part for part in parts if part.get("thought") is True),
        continuation=_continuation(calls),
    )


def _without_candidate(data: Object) -> Reply:
    feedback = data.get("promptFeedback")
    if not isinstance(feedback, dict) or not feedback.get("blockReason"):
        msg = "it holds no candidates"
        raise UnreadableReplyError(msg)
    return Reply(
        text="", stop_reason="filter", usage=_usage(data), model=clean(data.get("modelVersion"))
    )


def _stop_reason(finish: str, *, calls: bool) -> StopReason:
    if finish in _LENGTH:
        return "length"
    if finish in _FILTER:
        return "filter"
    return "tool_calls" if calls else "stop"


def _texts(parts: Iterable[Object]) -> str:
    return "".join(clean(part.get("text")) for part in parts)


def _pictures(parts: Iterable[Object]) -> list[Json]:
    """Return the inline data of pictures; sound and other data are none."""
    found: list[Json] = []
    for part in parts:
        data = part.get("inlineData")
        if isinstance(data, dict) and str(data.get("mimeType", "image/")).startswith("image/"):
            found.append({"b64_json": data.get("data")})
    return found


def _tool_call(part: Object, number: int) -> ToolCall:
    call = json_object(part.get("functionCall"))
    return ToolCall(
        id=clean(call.get("id")) or f"call_{number}",
        name=clean(call.get("name")),
        arguments=json.dumps(call.get("args") or {}),
    )


def _continuation(calls: Sequence[Object]) -> str:
    signatures: list[Json] = [part.get("thoughtSignature") for part in calls]
    return json.dumps({SIGNATURES: signatures}) if any(signatures) else ""


def _usage(data: Object) -> Usage:
    found = data.get("usageMetadata")
    counts = found if isinstance(found, dict) else {}
    thoughts = token_count(counts.get("thoughtsTokenCount"))
    tools = token_count(counts.get("toolUsePromptTokenCount"))
    return Usage(
        input_tokens=token_count(counts.get("promptTokenCount")) + tools,
        cached_tokens=token_count(counts.get("cachedContentTokenCount")),
        output_tokens=token_count(counts.get("candidatesTokenCount")) + thoughts,
        reasoning_tokens=thoughts,
        requests=1,
    )
