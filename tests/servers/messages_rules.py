"""What Anthropic's Messages API demands of a request, read from the SDK's published types.

Nothing here knows how the provider translates: the types are those of the `anthropic` package, and
the rules beyond them those of the API's reference.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import SchemaValidator

NEWEST = "2026-10-21"
SAMPLING = {"temperature": (0.0, 1.0), "top_p": (0.0, 1.0), "top_k": (0, 10**6)}
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_SIGNATURES = {"image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8", "image/gif": b"GIF8"}


@cache
def _published() -> SchemaValidator:
    """Return the SDK's types as a validator that reads all lists and refuses unknown members."""
    from anthropic.types.message_create_params import (  # noqa: PLC0415 - takes a second
        MessageCreateParamsNonStreaming,
    )

    return SchemaValidator(_strict(TypeAdapter(MessageCreateParamsNonStreaming).core_schema))


class _Nothing:
    """A class of which there is no instance."""


def _strict(schema: Any) -> Any:
    if isinstance(schema, list | tuple):
        return type(schema)(_strict(item) for item in schema)
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "model":
        # Classes of replies, which the SDK takes too; as JSON they are of the other types.
        return {"type": "is-instance", "cls": _Nothing, "ref": schema.get("ref", "")}
    strict = {name: _strict(value) for name, value in schema.items() if name != "serialization"}
    if strict.get("type") == "generator":
        strict["type"] = "list"
    if strict.get("type") == "typed-dict" and "extra_fields_behavior" not in strict.get(
        "config", {}
    ):
        strict["extra_behavior"] = "forbid"
    return strict


def wrong(body: Mapping[str, Any], version: str) -> str | None:
    """Return what is wrong with a request; None if the API would take it."""
    plain = {name: value for name, value in body.items() if name not in SAMPLING}
    if problem := _sampling(body, version):
        return problem
    try:
        _published().validate_python(plain)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return next(_broken_rules(plain), None)


def blocks_of(content: Any) -> list[dict[str, Any]]:
    """Return a content's blocks; a text is short for one."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content or ())


def signature(thinking: str) -> str:
    """Return what this server signs its reasoning with."""
    return hashlib.sha256(b"secret " + thinking.encode()).hexdigest()


def _sampling(body: Mapping[str, Any], version: str) -> str | None:
    for name in SAMPLING.keys() & body.keys():
        if version == NEWEST:
            return f"{name}: Extra inputs are not permitted"
        low, high = SAMPLING[name]
        if not isinstance(body[name], int | float) or not low <= body[name] <= high:
            return f"{name}: Input should be from {low} to {high}"
    return None


def _broken_rules(body: Mapping[str, Any]) -> Iterator[str]:
    if body["max_tokens"] < 1:
        yield "max_tokens: must be at least 1"
    if not body["messages"]:
        yield "messages: at least one message is required"
    if body.get("tool_choice") and not body.get("tools"):
        yield "tool_choice may only be specified while providing tools"
    for stop in body.get("stop_sequences", ()):
        if not stop.strip():
            yield "stop_sequences: each stop sequence must contain non-whitespace"
    names = [tool["name"] for tool in body.get("tools", ())]
    if len(set(names)) != len(names):
        yield "tools: Tool names must be unique."
    forced = body.get("tool_choice", {}).get("name")
    if forced is not None and forced not in names:
        yield f"Tool '{forced}' not found in provided tools"
    thinking = body.get("thinking", {})
    if (
        thinking.get("type") == "enabled"
        and not 1024 <= thinking["budget_tokens"] < body["max_tokens"]
    ):
        yield "thinking.enabled.budget_tokens: must be from 1024 and less than max_tokens"
    yield from _texts(body)
    yield from _calls(body)
    marks = json.dumps(body).count('"cache_control"')
    if marks > 4:
        yield f"A maximum of 4 blocks with cache_control may be provided. Found {marks}."


def _texts(body: Mapping[str, Any]) -> Iterator[str]:
    last = len(body["messages"]) - 1
    contents = [("system", blocks_of(body.get("system", "")))]
    for place, message in enumerate(body["messages"]):
        blocks = blocks_of(message["content"])
        if not blocks and not (place == last and message["role"] == "assistant"):
            yield f"messages.{place}: all messages must have non-empty content"
        contents.append((f"messages.{place}", blocks))
    for where, blocks in contents:
        inner = [
            one
            for block in blocks
            if block["type"] == "tool_result"
            for one in blocks_of(block.get("content"))
        ]
        for block in (*blocks, *inner):
            if block["type"] == "text" and not block["text"].strip():
                yield f"{where}: text content blocks must contain non-whitespace text"
            if block["type"] == "image":
                yield from _image(where, block["source"])


def _image(where: str, source: Mapping[str, Any]) -> Iterator[str]:
    try:
        data = base64.b64decode(source["data"], validate=True)
    except binascii.Error:
        data = b""
    if not data.startswith(_SIGNATURES.get(source["media_type"], b"RIFF")):
        yield f"{where}: the image does not match its media type {source['media_type']}"


def _calls(body: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with calls of tools, their results, and the reasoning before them."""
    open_ids: list[str] = []
    strict = body.get("thinking", {}).get("type") == "enabled"
    for place, message in enumerate(body["messages"]):
        blocks = blocks_of(message["content"])
        kinds = [block["type"] for block in blocks]
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(results) != sorted(open_ids):
            yield f"messages.{place}: tool_use ids {open_ids} were answered by {results}"
        if "tool_result" in kinds[len(results) :]:
            yield f"messages.{place}: tool_result blocks must come first"
        open_ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if any(not _ID.fullmatch(one) for one in (*results, *open_ids)):
            yield f"messages.{place}: ids must match {_ID.pattern}"
        if strict and open_ids and kinds[0] != "thinking":
            yield f"messages.{place}.content.0.type: Expected `thinking`, but found `{kinds[0]}`"
        for block in blocks:
            if block["type"] == "thinking" and block["signature"] != signature(block["thinking"]):
                yield f"messages.{place}: Invalid `signature` in `thinking` block"
    if open_ids:
        yield f"`tool_use` ids were found without `tool_result` blocks: {open_ids}"
