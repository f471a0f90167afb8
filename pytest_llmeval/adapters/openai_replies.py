"""Replies in the JSON of OpenAI's API, and of the servers that speak it."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from pytest_llmeval.engine.ports import ImageStore
from pytest_llmeval.records import Image, Json, Reply, StopReason, ToolCall, Usage

_Object: TypeAlias = Mapping[str, Json]

_STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "length": "length",
    "content_filter": "filter",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}
_BROKEN_OFF: Final = frozenset({"abort", "error", "insufficient_system_resource"})
"""Finish reasons by which servers (vLLM, OpenRouter, DeepSeek) say that they failed in the middle of a reply."""


class UnreadableReplyError(ValueError):
    """The body is not what the API promises: cut short, not JSON, or of another shape."""


class ServedError(Exception):
    """A body of status 200 that holds an error all the same; `code` is its status, if it tells one."""

    def __init__(self, message: str, code: int | None) -> None:
        """Take the server's words and code."""
        super().__init__(message)
        self.code = code


def read_chat(body: bytes, images: ImageStore) -> Reply:
    """Return the reply in the body of a chat completion, its latency not yet known.

    UnreadableReplyError when the body is none, ServedError when it tells of a failure.
    """
    data = _load(body)
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices:
        msg = "it holds no choices"
        raise UnreadableReplyError(msg)
    choice = _object(choices[0])
    finish = choice.get("finish_reason")
    if finish in _BROKEN_OFF:
        msg = f"generation broke off ({finish})"
        raise ServedError(msg, None)
    message = _object(choice.get("message"))
    refusal = message.get("refusal")
    tool_calls = tuple(_tool_calls(message))
    stop_reason = _STOP_REASONS.get(str(finish), "tool_calls" if tool_calls else "stop")
    return Reply(
        text=_text(message.get("content")) or _clean(refusal),
        stop_reason="refusal" if refusal and stop_reason == "stop" else stop_reason,
        images=tuple(_save(url, images) for url in _image_urls(message)),
        tool_calls=tool_calls,
        usage=_usage(data.get("usage")),
        model=_clean(data.get("model")),
    )


def read_images(body: bytes, images: ImageStore) -> Reply:
    """Return the reply in the body of an image request: pictures, no text. Raises as `read_chat`."""
    data = _load(body)
    entries = data.get("data")
    if not isinstance(entries, list) or not entries:
        msg = "it holds no picture"
        raise UnreadableReplyError(msg)
    return Reply(
        text="",
        images=tuple(_save(_image_source(_object(entry)), images) for entry in entries),
        usage=_usage(data.get("usage")),
        model=_clean(data.get("model")),
    )


def _load(body: bytes) -> _Object:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        msg = f"it is no JSON ({len(body)} bytes)"
        raise UnreadableReplyError(msg) from error
    data = _object(data)
    failure = data.get("error")
    if failure and not data.get("choices"):
        details = failure if isinstance(failure, dict) else {"message": failure}
        code = details.get("code")
        raise ServedError(_clean(details.get("message")), code if isinstance(code, int) else None)
    return data


def _object(value: Json) -> _Object:
    if not isinstance(value, dict):
        msg = f"an object is missing where {type(value).__name__} stands"
        raise UnreadableReplyError(msg)
    return value


def _objects(value: Json) -> Iterator[_Object]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def _text(content: Json) -> str:
    """Return the answer's text: a string, or the text parts of a list (thinking and pictures are other parts)."""
    if isinstance(content, list):
        return "".join(
            _clean(part.get("text")) for part in _objects(content) if part.get("type") in {"text", "output_text"}
        )
    return _clean(content)


def _clean(value: Json) -> str:
    """Return a string that every file can hold: JSON may carry half a surrogate pair, UTF-8 may not."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def _tool_calls(message: _Object) -> Iterator[ToolCall]:
    for call in _objects(message.get("tool_calls")):
        function = _object(call.get("function"))
        arguments = function.get("arguments")
        yield ToolCall(
            id=_clean(call.get("id")),
            name=_clean(function.get("name")),
            # Ollama once sent the object itself where the API has its JSON text.
            arguments=_clean(arguments) if isinstance(arguments, str) else json.dumps(arguments or {}),
        )


def _image_urls(message: _Object) -> Iterator[str]:
    """Yield the pictures of a message: OpenRouter's `images`, or parts of the content."""
    for part in (*_objects(message.get("images")), *_objects(message.get("content"))):
        if part.get("type") in {"image_url", "output_image", "image"} or "b64_json" in part:
            yield _image_source(part)


def _image_source(part: _Object) -> str:
    """Return a picture's base64 text or URL, from the shapes in which servers send it."""
    url = part.get("image_url", part.get("url"))
    source = part.get("b64_json") or (url.get("url") if isinstance(url, dict) else url)
    if not isinstance(source, str):
        msg = "a picture holds neither b64_json nor a URL"
        raise UnreadableReplyError(msg)
    return source


def _save(source: str, images: ImageStore) -> Image:
    if source.startswith(("http:", "https:")):
        # What a reply names is never fetched.
        msg = 'a picture came as a link, not as data (image parameters may need response_format: "b64_json")'
        raise UnreadableReplyError(msg)
    try:
        return images.save(base64.b64decode(source.partition("base64,")[2] if source.startswith("data:") else source))
    except (binascii.Error, ValueError) as error:
        msg = f"a picture in it cannot be read: {error}"
        raise UnreadableReplyError(msg) from error


def _usage(value: Json) -> Usage:
    """Return the tokens, under the names of the chat or of the image API."""
    data = value if isinstance(value, dict) else {}
    sent = data.get("prompt_tokens_details", data.get("input_tokens_details"))
    made = data.get("completion_tokens_details", data.get("output_tokens_details"))
    return Usage(
        input_tokens=_count(data.get("prompt_tokens", data.get("input_tokens"))),
        cached_tokens=_count(sent.get("cached_tokens")) if isinstance(sent, dict) else 0,
        output_tokens=_count(data.get("completion_tokens", data.get("output_tokens"))),
        reasoning_tokens=_count(made.get("reasoning_tokens")) if isinstance(made, dict) else 0,
        requests=1,
    )


def _count(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
