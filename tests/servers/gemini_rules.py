"""What Google's Gemini API refuses: by the published types of its SDK, and by its documentation."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Generator, Iterator
from typing import Any

from google.genai import types
from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel
from servers.conversation_rules import unpaired, wrong_schema

TOP = {"contents", "systemInstruction", "generationConfig", "tools", "toolConfig", "safetySettings"}
DATA = {"text", "inlineData", "functionCall", "functionResponse"}
FUNCTION = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
FREE = {"args", "response", "parametersJsonSchema", "responseJsonSchema"}


def signature(name: str) -> str:
    """Return the signature that the server gives a call, and wants back."""
    return base64.b64encode(hashlib.sha256(name.encode()).digest()).decode()


def wrong(model: str, body: dict[str, Any]) -> str | None:
    """Return what is wrong with the body of a request, if anything."""
    return next(problems(model, body), None)


def problems(model: str, body: dict[str, Any]) -> Iterator[str]:
    yield from (f"Unknown name {name!r}" for name in body.keys() - TOP)
    contents = body.get("contents")
    if not contents:
        yield "contents is not specified"
        return
    system = body.get("systemInstruction")
    for content in [*contents, *([system] if system else [])]:
        yield from refused(types.Content, content)
        yield from of_content(content)
    yield from of_generation(dict(body.get("generationConfig", {})))
    names = yield from of_tools(body.get("tools", ()))
    yield from of_choice(body.get("toolConfig"), names)
    for setting in body.get("safetySettings", ()):
        yield from refused(types.SafetySetting, setting)
    turns = [parts_by_kind(content) for content in contents]
    if problem := unpaired(turns):
        yield f"{problem}: the number of function response parts must equal the calls"
    if model.startswith("gemini-3"):
        yield from unsigned(contents)


def refused(kind: type[BaseModel], data: Any) -> Iterator[str]:
    try:
        kind.model_validate(data)
    except ValidationError as error:
        yield f"Invalid JSON payload: {error.errors()[0]['loc']} {error.errors()[0]['msg']}"


def camel(value: Any) -> Any:
    """Return JSON with members named as documented; the API takes their names in protobuf too."""
    if isinstance(value, list):
        return [camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    named = {to_camel(name): inner for name, inner in value.items()}
    return {name: inner if name in FREE else camel(inner) for name, inner in named.items()}


def of_content(content: dict[str, Any]) -> Iterator[str]:
    if content.get("role") not in {"user", "model"}:
        yield f"Please use a valid role: user, model, not {content.get('role')!r}"
    if not content.get("parts"):
        yield "contents.parts must not be empty"
    for part in content.get("parts", ()):
        kinds = DATA & part.keys()
        if len(kinds) != 1:
            yield f"required oneof field 'data' must have one initialized field, not {kinds}"
        if part.get("text") == "":
            yield "Unable to submit request because it must have a text parameter"
        if "inlineData" in part:
            yield from of_picture(part["inlineData"])


def of_picture(data: dict[str, Any]) -> Iterator[str]:
    if data.get("mimeType") not in {"image/png", "image/jpeg", "image/webp", "image/gif"}:
        yield f"Unsupported MIME type: {data.get('mimeType')}"
    try:
        if not base64.b64decode(data["data"], altchars=b"-_", validate=True):
            yield "Provided image is not valid"
    except binascii.Error:
        yield "Base64 decoding failed"


def of_generation(config: dict[str, Any]) -> Iterator[str]:
    yield from refused(types.ImageConfig, config.pop("imageConfig", {}))
    yield from refused(types.GenerationConfig, config)
    bounds = {"temperature": (0, 2), "topP": (0, 1), "seed": (-(2**31), 2**31 - 1)}
    for name, (low, high) in bounds.items():
        if not low <= config.get(name, low) <= high:
            yield f"{name} must be in the range [{low}, {high}]"
    if len(config.get("stopSequences", ())) > 5:
        yield "at most 5 stop sequences"
    if "responseJsonSchema" in config:
        if config.get("responseMimeType") != "application/json":
            yield "response schema needs response mime type application/json"
        if problem := wrong_schema(config["responseJsonSchema"]):
            yield problem
    thinking = config.get("thinkingConfig", {})
    if {"thinkingBudget", "thinkingLevel"} <= thinking.keys():
        yield "You can only set one of thinking budget and thinking level"


def of_tools(tools: Any) -> Generator[str, None, list[str]]:
    """Yield what is wrong with the tools; return the functions' names."""
    names: list[str] = []
    for tool in tools:
        yield from refused(types.Tool, tool)
        for function in tool.get("functionDeclarations", ()):
            names.append(function["name"])
            if not FUNCTION.fullmatch(function["name"]):
                yield f"Invalid function name {function['name']!r}"
            if problem := wrong_schema(function.get("parametersJsonSchema", {})):
                yield problem
    if len(set(names)) < len(names):
        yield "Duplicate function declaration found"
    return names


def of_choice(config: Any, names: list[str]) -> Iterator[str]:
    if config is None:
        return
    yield from refused(types.ToolConfig, config)
    calling = config.get("functionCallingConfig", {})
    allowed = calling.get("allowedFunctionNames", [])
    if allowed and (calling.get("mode") != "ANY" or not set(allowed) <= set(names)):
        yield "allowed_function_names must be declared, and need the mode ANY"


def parts_by_kind(content: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return the names in a content's calls and in its results."""
    parts = content.get("parts", ())
    return (
        [part["functionCall"].get("name") for part in parts if "functionCall" in part],
        [part["functionResponse"].get("name") for part in parts if "functionResponse" in part],
    )


def unsigned(contents: list[dict[str, Any]]) -> Iterator[str]:
    """Yield calls since the user last spoke that came back without their signature."""
    for content in reversed(contents):
        if content["role"] == "user" and any("text" in part for part in content["parts"]):
            return
        first = next((part for part in content["parts"] if "functionCall" in part), None)
        if first is not None and decoded(first.get("thoughtSignature")) != decoded(
            signature(first["functionCall"]["name"])
        ):
            yield "Function call is missing a thought_signature in functionCall parts"


def decoded(text: str | None) -> bytes:
    return base64.b64decode((text or "").replace("-", "+").replace("_", "/"))
