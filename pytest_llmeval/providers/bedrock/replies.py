"""Replies in the JSON of Bedrock's Converse API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from pytest_llmeval.engine.ports import ImageStore
from pytest_llmeval.providers.bedrock.requests import REASONING
from pytest_llmeval.providers.bodies import (
    Object,
    UnreadableReplyError,
    clean,
    json_object,
    load,
    objects,
)
from pytest_llmeval.providers.reply_pictures import reply_pictures
from pytest_llmeval.records import Json, Reply, StopReason, ToolCall, Usage
from pytest_llmeval.records.figures import token_count

_STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "filter",
    "content_filtered": "filter",
    "refusal": "refusal",
}


def read_converse(body: bytes, images: ImageStore) -> Reply:
    """Return the reply in the body of a response, without its latency.

    Raises:
        UnreadableReplyError: the body is no response.
    """
    data = load(body)
    output = data.get("output")
    message = output.get("message") if isinstance(output, dict) else None
    ended = _STOP_REASONS.get(str(data.get("stopReason")))
    # What a guardrail has taken away may leave no message at all.
    if not isinstance(message, dict) and ended != "filter":
        msg = "it holds no message"
        raise UnreadableReplyError(msg)
    blocks = list(objects(message.get("content"))) if isinstance(message, dict) else []
    calls = tuple(map(_tool_call, _of(blocks, "toolUse")))
    thoughts = list(_of(blocks, "reasoningContent"))
    pictures = reply_pictures(map(_picture, _of(blocks, "image")), images)
    return Reply(
        text="".join(clean(block.get("text")) for block in blocks),
        stop_reason=ended or ("tool_calls" if calls else "stop"),
        images=pictures.kept,
        image_problems=pictures.problems,
        tool_calls=calls,
        usage=_usage(data),
        model=_invoked(data),
        reasoning="".join(clean(text.get("text")) for text in _of(thoughts, "reasoningText")),
        continuation=json.dumps({REASONING: thoughts}) if thoughts and calls else "",
    )


def _of(blocks: list[Object], kind: str) -> Iterator[Object]:
    return (block for one in blocks if isinstance(block := one.get(kind), dict))


def _picture(block: Object) -> Json:
    source = block.get("source")
    return {"b64_json": source.get("bytes")} if isinstance(source, dict) else None


def _tool_call(block: Object) -> ToolCall:
    return ToolCall(
        id=clean(block.get("toolUseId")),
        name=clean(block.get("name")),
        arguments=json.dumps(block.get("input") or {}),
    )


def _invoked(data: Object) -> str:
    """Return the model that a prompt router chose; Converse names no other."""
    found: Json = data.get("trace")
    for name in ("promptRouter", "invokedModelId"):
        found = found.get(name) if isinstance(found, dict) else None
    return clean(found)


def _usage(data: Object) -> Usage:
    found = data.get("usage")
    counts = json_object(found) if isinstance(found, dict) else {}
    cached = token_count(counts.get("cacheReadInputTokens"))
    written = token_count(counts.get("cacheWriteInputTokens"))
    return Usage(
        # Converse counts what the cache gave and took apart.
        input_tokens=token_count(counts.get("inputTokens")) + cached + written,
        cached_tokens=cached,
        cache_write_tokens=written,
        output_tokens=token_count(counts.get("outputTokens")),
        requests=1,
    )
