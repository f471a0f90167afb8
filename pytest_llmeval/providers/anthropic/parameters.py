"""Parameters of chat requests, by the names and in the shapes of Anthropic's Messages API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from anthropic import transform_schema

from pytest_llmeval.engine.expectation import CEILINGS
from pytest_llmeval.providers.chat_shapes import (
    chosen_function,
    function_of,
    unknown_choice,
    wanted_schema,
)
from pytest_llmeval.providers.claude_thinking import claude_thinking
from pytest_llmeval.records import Json, Request

MAX_TOKENS: Final = 32_000
"""Tokens of a reply, reasoning included, at most, where the request does not say: the API demands a
number, and all models that are served allow this one."""

SAMPLING: Final = frozenset({"temperature", "top_k", "top_p"})
"""Parameters that the API takes in its older version only."""

_CHOICES: Final[Mapping[str, str]] = {"auto": "auto", "none": "none", "required": "any"}


def message_parameters(request: Request) -> dict[str, Json]:
    """Return a chat request's parameters as this API has them; it has no seed.

    What is of the API's own shape already, such as ``thinking``, stays as it is, and so does what
    has no counterpart: it is the API's to refuse.

    Raises:
        ValueError: a value has no counterpart.
    """
    given = {name: value for name, value in request.parameters.items() if name != "seed"}
    if wrong := [name for name, value in given.items() if not _is_finite(value)]:
        msg = f"{wrong[0]} holds a number that JSON cannot express; expected finite numbers"
        raise ValueError(msg)
    body: dict[str, Json] = {"max_tokens": _ceiling(given)}
    if (stop := given.pop("stop", None)) is not None:
        body["stop_sequences"] = [stop] if isinstance(stop, str) else stop
    if (user := given.pop("user", None)) is not None:
        body["metadata"] = {"user_id": user}
    output = _output(given)
    effort = given.pop("reasoning_effort", None)
    if effort is not None:
        body["thinking"], chosen = claude_thinking(effort)
        output = {**chosen, **output}
    if output:
        body["output_config"] = output
    return {**body, **_tools(given), **given}


def _is_finite(value: Json) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def _ceiling(given: dict[str, Json]) -> Json:
    found = [given.pop(name) for name in CEILINGS if name in given]
    return found[0] if found else MAX_TOKENS


def _output(given: dict[str, Json]) -> dict[str, Json]:
    """Return `output_config`: the given one, and the answer's JSON schema."""
    config = given.pop("output_config", None)
    output = dict(config) if isinstance(config, dict) else {}
    if (answer := wanted_schema(given.pop("response_format", None))) is None:
        return output
    return {"format": {"type": "json_schema", "schema": _schema(answer.schema)}, **output}


def _schema(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return a schema in the part of JSON Schema that the API enforces; the rest is described."""
    try:
        return dict(transform_schema(dict(schema)))
    except (ValueError, TypeError, AssertionError, RecursionError) as error:
        msg = f"the JSON schema of response_format has no counterpart in this API: {error}"
        raise ValueError(msg) from error


def _tools(given: dict[str, Json]) -> dict[str, Json]:
    """Return the tools and the choice among them."""
    body: dict[str, Json] = {}
    if isinstance(tools := given.pop("tools", None), list) and tools:
        body["tools"] = [_tool(tool) for tool in tools]
    parallel = given.pop("parallel_tool_calls", None)
    choice = given.pop("tool_choice", None)
    if "tools" not in body:
        return body
    chosen = _choice(choice)
    if parallel is False and chosen.get("type") != "none":
        chosen = {"type": "auto", **chosen, "disable_parallel_tool_use": True}
    if chosen:
        body["tool_choice"] = chosen
    return body


def _tool(tool: Json) -> Json:
    if (function := function_of(tool)) is None:
        return tool
    return {
        "name": function.name,
        **({"description": function.description} if function.description else {}),
        "input_schema": dict(function.schema),
        **({"strict": True} if function.strict else {}),
    }


def _choice(choice: Json) -> dict[str, Json]:
    if choice is None:
        return {}
    if isinstance(choice, str) and choice in _CHOICES:
        return {"type": _CHOICES[choice]}
    if (name := chosen_function(choice)) is not None:
        return {"type": "tool", "name": name}
    if isinstance(choice, dict):
        return dict(choice)
    raise unknown_choice(choice)
