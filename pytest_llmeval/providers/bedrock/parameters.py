"""Parameters of chat requests, by the names and in the shapes of Bedrock's Converse API."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from pytest_llmeval.engine.expectation import CEILINGS
from pytest_llmeval.providers.chat_shapes import (
    chosen_function,
    function_of,
    unknown_choice,
    wanted_schema,
)
from pytest_llmeval.providers.claude_thinking import claude_thinking
from pytest_llmeval.providers.tool_rules import check_tools
from pytest_llmeval.records import Json, Request

_OWN: Final = frozenset(
    {
        *("additionalModelRequestFields", "additionalModelResponseFieldPaths", "guardrailConfig"),
        *("inferenceConfig", "outputConfig", "performanceConfig", "promptVariables"),
        *("requestMetadata", "serviceTier"),
    }
)
"""Members of a request to Converse that a task or spec may set as they are."""

_SAMPLING: Final[Mapping[str, str]] = {"temperature": "temperature", "top_p": "topP"}
_CHOICES: Final[Mapping[str, str]] = {"auto": "auto", "required": "any"}
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def converse_parameters(request: Request) -> dict[str, Any]:
    """Return a chat request's parameters as members of a request to Converse; it has no seed.

    What Converse has no name for goes to the model as a parameter of its own
    (``additionalModelRequestFields``), such as ``top_k`` or ``thinking``.

    Raises:
        ValueError: a value has no counterpart.
    """
    given = {name: value for name, value in request.parameters.items() if name != "seed"}
    body: dict[str, Any] = {}
    _add(body, "inferenceConfig", _inference(given))
    _add(body, "outputConfig", _answer(given.pop("response_format", None)))
    _add(body, "toolConfig", _tools(given))
    if (effort := given.pop("reasoning_effort", None)) is not None:
        for member, value in _thinking(effort, request.model).items():
            _add(body, member, value)
    fields = given.get("additionalModelRequestFields", {})
    if not isinstance(fields, dict):
        msg = f"additionalModelRequestFields is {fields!r}; expected an object"
        raise ValueError(msg)  # noqa: TRY004 - one kind for all
    for name in _OWN & given.keys():
        _add(body, name, given.pop(name))
    _add(body, "additionalModelRequestFields", given)
    return body


def _add(body: dict[str, Any], name: str, value: Any) -> None:  # noqa: ANN401 - JSON
    """Add a member, or its members to those that are there."""
    if isinstance(value, dict) and isinstance(there := body.get(name, {}), dict):
        value = {**there, **value}
    if value:
        body[name] = value


def _inference(given: dict[str, Json]) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if found := [given.pop(name) for name in CEILINGS if name in given]:
        config["maxTokens"] = found[0]
    for name, own in _SAMPLING.items():
        if (value := given.pop(name, None)) is None:
            continue
        if not isinstance(value, int | float) or not 0 <= value <= 1:
            msg = f"{name} is {value!r}; this API takes a number from 0 to 1"
            raise ValueError(msg)
        config[own] = value
    if (stop := given.pop("stop", None)) is not None:
        config["stopSequences"] = [stop] if isinstance(stop, str) else stop
    if (number := given.pop("n", 1)) != 1:
        msg = f"n is {number!r}; this API gives one reply"
        raise ValueError(msg)
    return config


def _answer(shape: Json) -> dict[str, Any]:
    """Return the form of the answer."""
    if (answer := wanted_schema(shape)) is None:
        return {}
    definition = {
        "schema": json.dumps(answer.schema),
        **({"name": answer.name} if answer.name else {}),
    }
    return {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": definition}}}


def _tools(given: dict[str, Json]) -> dict[str, Any]:
    """Return the tools and the choice among them; none where the choice is not to call any."""
    tools = given.pop("tools", None)
    choice, parallel = given.pop("tool_choice", None), given.pop("parallel_tool_calls", None)
    if not isinstance(tools, list) or not tools or choice == "none":
        return {}
    if parallel is False:
        msg = "parallel_tool_calls is false; this API cannot forbid several calls in one reply"
        raise ValueError(msg)
    functions = [function for tool in tools if (function := function_of(tool)) is not None]
    check_tools([function.name for function in functions], _NAME, chosen=choice)
    chosen = _choice(choice)
    return {
        "tools": [_tool(tool) for tool in tools],
        **({"toolChoice": chosen} if chosen else {}),
    }


def _tool(tool: Json) -> Json:
    if (function := function_of(tool)) is None:
        return tool
    return {
        "toolSpec": {
            "name": function.name,
            **({"description": function.description} if function.description else {}),
            "inputSchema": {"json": dict(function.schema)},
            **({"strict": True} if function.strict else {}),
        }
    }


def _choice(choice: Json) -> dict[str, Any]:
    if choice is None:
        return {}
    if isinstance(choice, str) and choice in _CHOICES:
        return {_CHOICES[choice]: {}}
    if (name := chosen_function(choice)) is not None:
        return {"tool": {"name": name}}
    raise unknown_choice(choice)


def _thinking(effort: Json, model: str) -> dict[str, Any]:
    """Return the members that say how much a model thinks: each family has its own."""
    if "anthropic." in model:
        thinking, output = claude_thinking(effort)
        return {"outputConfig": output, "additionalModelRequestFields": {"thinking": thinking}}
    if "amazon.nova" in model:
        how = {"type": "enabled", "maxReasoningEffort": effort}
        config = {"type": "disabled"} if effort == "none" else how
        return {"additionalModelRequestFields": {"reasoningConfig": config}}
    return {"additionalModelRequestFields": {"reasoning_effort": effort}}
