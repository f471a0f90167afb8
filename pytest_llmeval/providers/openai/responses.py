"""Requests and replies in the JSON of OpenAI's Responses API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pytest_llmeval.engine.ports import ImageStore
from pytest_llmeval.providers.bodies import (
    Object,
    ServedError,
    UnreadableReplyError,
    clean,
    load,
    objects,
)
from pytest_llmeval.providers.openai.replies import refuse_failure, usage_in
from pytest_llmeval.providers.openai.requests import chat_parameters, data_url
from pytest_llmeval.providers.reply_pictures import reply_pictures
from pytest_llmeval.records import (
    ImagePart,
    Json,
    Message,
    Part,
    Reply,
    Request,
    StopReason,
    ToolCall,
)

_INCOMPLETE: Final[Mapping[str, StopReason]] = {
    "max_output_tokens": "length",
    "content_filter": "filter",
}

_INVALID: Final = 400
"""Status of a failure whose code says neither overload nor breakdown: an invalid request."""


def response_body(request: Request) -> dict[str, Json]:
    """Return the body of a request.

    Parameters are those of chat requests, renamed as this API has them; it has no seed. The server
    stores nothing unless the parameters say ``store: true``.
    """
    items = [item for message in request.messages for item in _items(message)]
    return {
        "store": False,
        **_parameters(chat_parameters(request)),
        "model": request.model,
        "input": items,
    }


def read_response(body: bytes, images: ImageStore) -> Reply:
    """Return the reply in the body of a response, without its latency; raises as `read_chat`."""
    data = load(body)
    refuse_failure(data, otherwise=_INVALID)
    ended = _ended(data)
    if not isinstance(data.get("output"), list):
        msg = "it holds no output"
        raise UnreadableReplyError(msg)
    output = list(objects(data.get("output")))
    text, refusal = _parts(output, "message", "output_text"), _parts(output, "message", "refusal")
    calls = tuple(map(_tool_call, _of_type(output, "function_call")))
    pictures = reply_pictures(map(_picture, _of_type(output, "image_generation_call")), images)
    stop_reason: StopReason = "refusal" if refusal else "tool_calls" if calls else "stop"
    return Reply(
        text=text or refusal,
        stop_reason=ended or stop_reason,
        images=pictures.kept,
        image_problems=pictures.problems,
        tool_calls=calls,
        usage=usage_in(data),
        model=clean(data.get("model")),
        reasoning=_parts(output, "reasoning", "summary_text")
        or _parts(output, "reasoning", "reasoning_text"),
    )


def _items(message: Message) -> Iterator[Json]:
    if message.tool_call_id is not None:
        yield {
            "type": "function_call_output",
            "call_id": message.tool_call_id,
            "output": message.text,
        }
        return
    if message.parts:
        content: Json = [_part(part) for part in message.parts] if message.images else message.text
        yield {"role": message.role, "content": content}
    for call in message.tool_calls:
        yield {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }


def _part(part: Part) -> Json:
    if isinstance(part, ImagePart):
        return {"type": "input_image", "image_url": data_url(part.image)}
    return {"type": "input_text", "text": part.text}


def _parameters(given: Mapping[str, Json]) -> dict[str, Json]:
    """Return a chat request's parameters by their names in this API."""
    parameters = {name: value for name, value in given.items() if name != "seed"}
    for name in ("max_tokens", "max_completion_tokens"):
        if (ceiling := parameters.pop(name, None)) is not None:
            parameters.setdefault("max_output_tokens", ceiling)
    text: dict[str, Json] = {}
    if (effort := parameters.pop("reasoning_effort", None)) is not None:
        parameters["reasoning"] = {"effort": effort, **_mapping(parameters.get("reasoning"))}
    if (shape := parameters.pop("response_format", None)) is not None:
        text["format"] = _flat(shape, "json_schema")
    if (verbosity := parameters.pop("verbosity", None)) is not None:
        text["verbosity"] = verbosity
    if text:
        parameters["text"] = {**text, **_mapping(parameters.get("text"))}
    if isinstance(tools := parameters.get("tools"), list):
        parameters["tools"] = [_flat(tool, "function") for tool in tools]
    if "tool_choice" in parameters:
        parameters["tool_choice"] = _flat(parameters["tool_choice"], "function")
    return parameters


def _flat(value: Json, inner: str) -> Json:
    """Return ``{"type": inner, inner: {...}}`` with the inner members beside the type."""
    nested = value.get(inner) if isinstance(value, dict) else None
    return {"type": inner, **nested} if isinstance(nested, dict) else value


def _mapping(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _ended(data: Object) -> StopReason | None:
    """Return why a reply ended early, None if it did not; ServedError when it failed."""
    status = data.get("status", "completed")
    if status == "completed":
        return None
    reason = clean(_mapping(data.get("incomplete_details")).get("reason"))
    if status == "incomplete" and reason in _INCOMPLETE:
        return _INCOMPLETE[reason]
    msg = f"the response is {status}" + (f" ({reason})" if reason else "")
    raise ServedError(msg, None)


def _of_type(output: list[Object], kind: str) -> Iterator[Object]:
    return (item for item in output if item.get("type") == kind)


def _parts(output: list[Object], kind: str, part_type: str) -> str:
    """Return the texts of all parts of one type in items of one kind, joined."""
    parts = (
        part
        for item in _of_type(output, kind)
        for name in ("summary", "content")
        for part in objects(item.get(name))
    )
    return "".join(
        clean(part.get("refusal", part.get("text")))
        for part in parts
        if part.get("type") == part_type
    )


def _picture(item: Object) -> Json:
    return {"b64_json": item.get("result")}


def _tool_call(item: Object) -> ToolCall:
    return ToolCall(
        id=clean(item.get("call_id")),
        name=clean(item.get("name")),
        arguments=clean(item.get("arguments")),
    )
