"""Replies in the JSON of Anthropic's Messages API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from pytest_llmeval.providers.bodies import (
    Object,
    ServedError,
    UnreadableReplyError,
    clean,
    load,
    objects,
)
from pytest_llmeval.records import Json, Reply, StopReason, ToolCall, Usage
from pytest_llmeval.records.figures import token_count

_STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "length",
    "refusal": "refusal",
    "tool_use": "tool_calls",
}
"""``pause_turn``: the server's own tools took too long, and the turn was not carried on."""

_THINKING: Final = frozenset({"thinking", "redacted_thinking"})
"""Types of blocks with signed reasoning."""

_STATUSES: Final[Mapping[str, int]] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""HTTP status for each type of an error that comes in a body of status 200."""


def read_message(body: bytes) -> Reply:
    """Return the reply in the body of a message, without its latency.

    Raises:
        UnreadableReplyError: the body is no message.
        ServedError: the body holds an error.
    """
    data = load(body)
    _refuse_failure(data)
    if not isinstance(data.get("content"), list):
        msg = "it holds no content"
        raise UnreadableReplyError(msg)
    blocks = list(objects(data.get("content")))
    calls = tuple(_call(block) for block in blocks if block.get("type") == "tool_use")
    ended: StopReason = "tool_calls" if calls else "stop"
    stop_reason = _STOP_REASONS.get(clean(data.get("stop_reason")), ended)
    text = _joined(blocks, "text")
    if stop_reason == "refusal" and not text:
        text = _explanation(data)
    return Reply(
        text=text,
        stop_reason=stop_reason,
        tool_calls=calls,
        usage=_usage(data.get("usage")),
        model=clean(data.get("model")),
        reasoning=_joined(blocks, "thinking", between="\n\n"),
        continuation=_continuation(blocks) if calls else "",
    )


def _refuse_failure(data: Object) -> None:
    failure = data.get("error")
    if data.get("type") != "error" and not failure:
        return
    details = failure if isinstance(failure, dict) else {"message": failure}
    kind = clean(details.get("type"))
    raise ServedError(clean(details.get("message")) or kind, _STATUSES.get(kind), name=kind)


def _joined(blocks: list[Object], kind: str, *, between: str = "") -> str:
    texts = (clean(block.get(kind)) for block in blocks if block.get("type") == kind)
    return between.join(text for text in texts if text)


def _call(block: Object) -> ToolCall:
    return ToolCall(
        id=clean(block.get("id")),
        name=clean(block.get("name")),
        arguments=json.dumps(block.get("input") or {}),
    )


def _continuation(blocks: list[Object]) -> str:
    """Return the signed reasoning, which goes back with the results of the calls."""
    kept = [block for block in blocks if clean(block.get("type")) in _THINKING]
    return json.dumps(kept) if kept else ""


def _explanation(data: Object) -> str:
    details = data.get("stop_details")
    return clean(details.get("explanation")) if isinstance(details, dict) else ""


def _usage(value: Json) -> Usage:
    """Return the tokens; those of the cache come beside `input_tokens`, not among them."""
    data = value if isinstance(value, dict) else {}
    made = data.get("output_tokens_details")
    read = token_count(data.get("cache_read_input_tokens"))
    written = token_count(data.get("cache_creation_input_tokens"))
    return Usage(
        input_tokens=token_count(data.get("input_tokens")) + read + written,
        cached_tokens=read,
        cache_write_tokens=written,
        output_tokens=token_count(data.get("output_tokens")),
        reasoning_tokens=token_count(made.get("thinking_tokens")) if isinstance(made, dict) else 0,
        requests=1,
    )
