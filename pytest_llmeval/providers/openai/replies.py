"""Replies in the JSON of OpenAI's API, and of servers that speak it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
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
from pytest_llmeval.providers.reply_pictures import reply_pictures
from pytest_llmeval.records import Json, Reply, StopReason, ToolCall, Usage
from pytest_llmeval.records.figures import token_count

_STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "content_filter": "filter",
    "content_filtered": "filter",
    "guardrail_intervened": "filter",
    "prohibited_content": "filter",
    "blocklist": "filter",
    "safety": "filter",
    "sensitive": "filter",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}
"""By the finish reasons of OpenAI and of servers that speak its API: Anthropic, Bedrock, Gemini,
Mistral, Zhipu. Gemini appends its own reason: ``content_filter: SAFETY``."""

_BROKEN_OFF: Final = frozenset({"abort", "error", "insufficient_system_resource"})
"""Finish reasons of vLLM, OpenRouter and DeepSeek for a failure in the middle of a reply."""

_STATUSES: Final = {"rate_limit_exceeded": 429, "server_error": 500, "vector_store_timeout": 500}
"""HTTP status for each code of an error in a body that waiting may help against."""


def read_chat(body: bytes, images: ImageStore) -> Reply:
    """Return the reply in the body of a chat completion, without its latency.

    Raises:
        UnreadableReplyError: the body is no chat completion.
        ServedError: the body holds an error.
    """
    data = load(body)
    choices = data.get("choices")
    if not choices:
        refuse_failure(data)
    if not isinstance(choices, list) or not choices:
        msg = "it holds no choices"
        raise UnreadableReplyError(msg)
    choice = json_object(choices[0])
    finish = clean(choice.get("finish_reason"))
    if finish in _BROKEN_OFF:
        msg = f"generation broke off ({finish})"
        raise ServedError(msg, None)
    ended = _STOP_REASONS.get(finish.partition(":")[0].lower())
    # What a filter has taken away may leave no message at all.
    message = json_object(
        choice.get("message") or {} if ended == "filter" else choice.get("message")
    )
    refusal = message.get("refusal")
    tool_calls = tuple(_tool_calls(message))
    stop_reason: StopReason = ended or ("tool_calls" if tool_calls else "stop")
    pictures = reply_pictures(_picture_parts(message), images)
    return Reply(
        text=_text(message.get("content")) or clean(refusal),
        stop_reason="refusal" if refusal and stop_reason == "stop" else stop_reason,
        images=pictures.kept,
        image_problems=pictures.problems,
        tool_calls=tool_calls,
        usage=usage_in(data),
        model=clean(data.get("model")),
        # The first name is that of vLLM, DeepSeek and SGLang, the other of OpenRouter, newer vLLM.
        reasoning=_text(message.get("reasoning_content"))
        or _text(message.get("reasoning"))
        or _thinking(message.get("content")),
    )


def read_images(body: bytes, images: ImageStore) -> Reply:
    """Return the reply in the body of an image request, pictures alone; raises as `read_chat`."""
    data = load(body)
    refuse_failure(data)
    entries = data.get("data", "")
    # Servers written in Go send an empty list as null.
    if not isinstance(entries, list | None):
        msg = "it holds no list of pictures"
        raise UnreadableReplyError(msg)
    pictures = reply_pictures(entries or (), images)
    return Reply(
        text="",
        images=pictures.kept,
        image_problems=pictures.problems,
        usage=usage_in(data),
        model=clean(data.get("model")),
    )


def _text(content: Json) -> str:
    """Return the text of a content: a string, or the text parts of a list."""
    if isinstance(content, list):
        return "".join(
            clean(part.get("text"))
            for part in objects(content)
            if clean(part.get("type")) in {"text", "output_text"}
        )
    return clean(content)


def _thinking(content: Json) -> str:
    """Return the text of Mistral's thinking parts in a list of content."""
    parts = (part for part in objects(content) if part.get("type") == "thinking")
    return "".join(_text(part.get("thinking")) for part in parts)


def _tool_calls(message: Object) -> Iterator[ToolCall]:
    for call in objects(message.get("tool_calls")):
        function = json_object(call.get("function"))
        arguments = function.get("arguments")
        yield ToolCall(
            id=clean(call.get("id")),
            name=clean(function.get("name")),
            # Older versions of Ollama send the object itself instead of its JSON text.
            arguments=clean(arguments)
            if isinstance(arguments, str)
            else json.dumps(arguments or {}),
        )


def _picture_parts(message: Object) -> Iterator[Object]:
    """Yield the parts that hold pictures: OpenRouter's `images`, or of the content."""
    for part in (*objects(message.get("images")), *objects(message.get("content"))):
        kind = clean(part.get("type"))
        if kind in {"image_url", "output_image", "image"} or "b64_json" in part:
            yield part


def refuse_failure(data: Object, *, otherwise: int | None = None) -> None:
    """Raise ServedError when a body holds an error; `otherwise` is the status of unknown codes."""
    if failure := data.get("error"):
        details = failure if isinstance(failure, dict) else {"message": failure}
        code = details.get("code")
        status = code if isinstance(code, int) else _STATUSES.get(str(code), otherwise)
        raise ServedError(clean(details.get("message")), status, name=clean(code))


def usage_in(body: Object) -> Usage:
    """Return the tokens in a body of the chat, the Responses or the image API."""
    value = body.get("usage")
    data = value if isinstance(value, dict) else {}
    sent = _details(data, "prompt_tokens_details", "input_tokens_details")
    made = _details(data, "completion_tokens_details", "output_tokens_details")
    return Usage(
        input_tokens=token_count(data.get("prompt_tokens", data.get("input_tokens"))),
        cached_tokens=token_count(sent.get("cached_tokens")),
        cache_write_tokens=token_count(sent.get("cache_write_tokens")),
        output_tokens=token_count(data.get("completion_tokens", data.get("output_tokens"))),
        reasoning_tokens=token_count(made.get("reasoning_tokens")),
        requests=1,
    )


def _details(usage: Object, *names: str) -> Object:
    """Return the first of several members that is there; an empty object if it is none."""
    found = next((usage[name] for name in names if name in usage), None)
    return found if isinstance(found, dict) else {}
