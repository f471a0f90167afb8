"""What Bedrock's Converse API refuses: by the published model of the service, and by its documents.

The model is the one that botocore ships; the body is read by it as the service would.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator
from conversation_rules import unpaired, wrong_schema


@cache
def operation() -> Any:
    """Return the published model of Converse."""
    described = Loader().load_service_model("bedrock-runtime", "service-2")
    return ServiceModel(described, "bedrock-runtime").operation_model("Converse")


def input_shape() -> Any:
    """Return the shape of a request to Converse."""
    return operation().input_shape


def signature(thought: str) -> str:
    """Return the signature that the server gives a thought, and wants back."""
    return hashlib.sha256(thought.encode()).hexdigest()


def wrong(model: str, body: dict[str, Any]) -> str | None:
    """Return what is wrong with the body of a request, if anything."""
    return next(problems(model, body), None)


def problems(model: str, body: dict[str, Any]) -> Iterator[str]:
    found: list[str] = []
    params = typed(input_shape(), {**body, "modelId": model}, found)
    yield from found
    report = ParamValidator().validate(params, input_shape())
    if report.has_errors():
        yield report.generate_report()
    if found or report.has_errors():
        return
    yield from of_messages(body)
    yield from of_tools(body)
    structure = body.get("outputConfig", {}).get("textFormat", {}).get("structure", {})
    if structure and (problem := wrong_schema(json.loads(structure["jsonSchema"]["schema"]))):
        yield problem
    yield from unsigned(body)


def typed(  # noqa: C901, PLR0911 - one branch for each type
    shape: Any, value: Any, found: list[str]
) -> Any:
    """Return a value in the types of Python that its shape has; notes what the model forbids."""
    if getattr(shape, "is_document_type", False):
        return value
    match shape.type_name, value:
        case "structure", dict():
            found += [
                f"unknown member {name} of {shape.name}" for name in value.keys() - shape.members
            ]
            known = value.keys() & shape.members
            return {name: typed(shape.members[name], value[name], found) for name in known}
        case "list", list():
            bounded(shape, len(value), found)
            return [typed(shape.member, item, found) for item in value]
        case "map", dict():
            return {name: typed(shape.value, item, found) for name, item in value.items()}
        case "blob", str():
            try:
                return base64.b64decode(value, validate=True)
            except binascii.Error:
                found.append(f"{shape.name} is no base64")
        case "string", str():
            bounded(shape, len(value), found)
            pattern = shape.metadata.get("pattern")
            if pattern and not re.fullmatch(pattern, value):
                found.append(f"{value!r} failed to satisfy the regular expression of {shape.name}")
            if shape.enum and value not in shape.enum:
                found.append(f"{value!r} is no member of {shape.enum}")
        case "integer" | "float", int() | float():
            bounded(shape, value, found)
            return float(value) if shape.type_name == "float" else value
    return value


def bounded(shape: Any, size: float, found: list[str]) -> None:
    if not shape.metadata.get("min", size) <= size <= shape.metadata.get("max", size):
        found.append(f"{shape.name} is {size}, out of its bounds")


def of_messages(body: dict[str, Any]) -> Iterator[str]:
    roles = [message["role"] for message in body.get("messages", ())]
    if not roles or roles[0] != "user":
        yield "A conversation must start with a user message."
    if any(one == other for one, other in pairwise(roles)):
        yield "A conversation must alternate between user and assistant roles."
    for message in body.get("messages", ()):
        if not message["content"]:
            yield "The content field in the Message object is empty."
        for block in message["content"]:
            if "text" in block and not block["text"].strip():
                yield "The text field in the ContentBlock object is blank."
            if "toolUse" in block and not isinstance(block["toolUse"]["input"], dict):
                yield "The format of the value at toolUse.input is invalid. Provide a json object."
    for block in body.get("system", ()):
        if not block.get("text", "x").strip():
            yield "The text field in the SystemContentBlock object is blank."


def of_tools(body: dict[str, Any]) -> Iterator[str]:
    turns = [calls_and_results(message) for message in body["messages"]]
    if problem := unpaired(turns):
        yield f"{problem}: toolResult blocks must answer the toolUse blocks of the previous turn"
    if any(len(set(calls)) < len(calls) for calls, _ in turns):
        yield "toolUse ids must be unique"
    config = body.get("toolConfig")
    if config is None:
        if any(calls or results for calls, results in turns):
            yield "The toolConfig field must be defined when using toolUse and toolResult blocks."
        return
    specs = [tool["toolSpec"] for tool in config["tools"] if "toolSpec" in tool]
    names = [spec["name"] for spec in specs]
    if len(set(names)) < len(names):
        yield "The tools contain duplicate names."
    for spec in specs:
        if problem := wrong_schema(spec["inputSchema"]["json"]):
            yield problem
    chosen = config.get("toolChoice", {}).get("tool", {}).get("name")
    if chosen is not None and chosen not in names:
        yield "The tool of toolChoice is none of the tools."


def calls_and_results(message: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the ids in a message's calls and in its results."""
    blocks = message["content"]
    return (
        [block["toolUse"]["toolUseId"] for block in blocks if "toolUse" in block],
        [block["toolResult"]["toolUseId"] for block in blocks if "toolResult" in block],
    )


def unsigned(body: dict[str, Any]) -> Iterator[str]:
    """Yield what Claude says when a call comes back without the thought before it."""
    fields = body.get("additionalModelRequestFields") or {}
    thinks = fields.get("thinking", {}).get("type") in {"adaptive", "enabled"}
    for message in body["messages"]:
        calls, _ = calls_and_results(message)
        first = message["content"][0].get("reasoningContent", {}).get("reasoningText", {})
        if thinks and calls and first.get("signature") != signature(first.get("text", "")):
            yield "Expected `thinking` or `redacted_thinking`, but found `tool_use`"
