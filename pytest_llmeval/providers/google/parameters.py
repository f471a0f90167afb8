"""Parameters of chat requests, by the names and in the shapes of Google's Gemini API."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

from google.genai import types

from pytest_llmeval.providers.chat_shapes import (
    chosen_function,
    function_of,
    unknown_choice,
    wanted_schema,
)
from pytest_llmeval.providers.tool_rules import check_tools
from pytest_llmeval.records import Json, Request

_RENAMED: Final[Mapping[str, str]] = {
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "stop": "stop_sequences",
    "n": "candidate_count",
    "top_logprobs": "logprobs",
}

_NOT_OWN: Final = frozenset(
    {
        *("http_options", "should_return_http_response", "system_instruction"),
        *("automatic_function_calling", "automatic_continuation", "continuation_token"),
    }
)
"""Fields of the SDK's configuration that are ours to set."""

_OWN: Final[Mapping[str, str]] = {
    spelled: name
    for name, field in types.GenerateContentConfig.model_fields.items()
    if name not in _NOT_OWN
    for spelled in (name, field.alias or name)
}
"""Names of the SDK's parameters by both of their spellings: ``top_k`` and ``topK``."""

_CHAT_ONLY: Final = frozenset(
    {
        *("tools", "tool_choice", "parallel_tool_calls", "response_format", "reasoning_effort"),
        *("stop", "logprobs", "top_logprobs"),
    }
)
"""Parameters of a task's chats that a request for a picture goes without."""

_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
_CHOICES: Final[Mapping[str, str]] = {"auto": "AUTO", "none": "NONE", "required": "ANY"}

_RANGES: Final[Mapping[str, tuple[float, float]]] = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "seed": (-(2**31), 2**31 - 1),
}

_BUDGETED: Final = re.compile(r"(?:.*/)?gemini-2")
_BUDGETS: Final[Mapping[str, int]] = {
    "none": 0,
    "minimal": 1024,
    "low": 1024,
    "medium": 8192,
    "high": 24576,
}
"""Tokens of thinking by effort, for models that take a number: those of Google's own
OpenAI-compatible service."""


def generation_parameters(request: Request) -> dict[str, Any]:
    """Return a request's parameters as the SDK's configuration has them.

    A parameter of the SDK's own, such as ``safety_settings``, stays as it is, and goes before what
    is translated.

    Raises:
        ValueError: a parameter or a value has no counterpart.
    """
    drawing = request.operation == "image"
    given = {
        name: value
        for name, value in request.parameters.items()
        if not (drawing and name in _CHAT_ONLY)
    }
    config: dict[str, Any] = {
        "automatic_continuation": False,  # each further request would be one nobody counts
        "automatic_function_calling": {"disable": True},
        "should_return_http_response": True,
        **({"response_modalities": ["TEXT", "IMAGE"]} if drawing else {}),
        **_answer(given.pop("response_format", None)),
        **_tools(given),
    }
    if (effort := given.pop("reasoning_effort", None)) is not None:
        config["thinking_config"] = _thinking(effort, request.model)
    own: dict[str, Any] = {}
    for name, value in given.items():
        translated, found = _renamed(name, value)
        if translated not in _OWN:
            msg = f"the parameter {name} has no counterpart in this API; {name}=null leaves it out"
            raise ValueError(msg)
        (own if name in _OWN else config)[_OWN[translated]] = found
    return {**config, **own}


def _renamed(name: str, value: Json) -> tuple[str, Json]:
    if name == "stop" and isinstance(value, str):
        return "stop_sequences", [value]
    if name == "logprobs" and isinstance(value, bool):
        return "response_logprobs", value
    low, high = _RANGES.get(name, (-math.inf, math.inf))
    if isinstance(value, int | float) and not low <= value <= high:
        msg = f"{name} is {value}; this API takes {low} to {high}"
        raise ValueError(msg)
    return _RENAMED.get(name, name), value


def _answer(shape: Json) -> dict[str, Any]:
    """Return the form of the answer."""
    if shape == {"type": "json_object"}:
        return {"response_mime_type": "application/json"}
    if (answer := wanted_schema(shape)) is None:
        return {}
    # Plain JSON Schema: the older field takes a part of OpenAPI's.
    return {"response_mime_type": "application/json", "response_json_schema": dict(answer.schema)}


def _tools(given: dict[str, Json]) -> dict[str, Any]:
    """Take tools and the choice among them out of the parameters, and return them translated."""
    tools = given.pop("tools", None)
    choice, parallel = given.pop("tool_choice", None), given.pop("parallel_tool_calls", None)
    if not isinstance(tools, list) or not tools:
        return {}
    if odd := [tool for tool in tools if not isinstance(tool, dict)]:
        msg = f"tools holds {odd[0]!r}; expected objects"
        raise ValueError(msg)
    if parallel is False:
        msg = "parallel_tool_calls is false; this API cannot forbid several calls in one reply"
        raise ValueError(msg)
    functions = [function for tool in tools if (function := function_of(tool)) is not None]
    check_tools([function.name for function in functions], _NAME, chosen=choice)
    declared = [
        {
            "name": function.name,
            **({"description": function.description} if function.description else {}),
            "parameters_json_schema": dict(function.schema),
        }
        for function in functions
    ]
    # Of one tool all functions: several tools are taken only if they are of different kinds.
    translated: list[Any] = [{"function_declarations": declared}] if declared else []
    translated += [tool for tool in tools if function_of(tool) is None]
    chosen = _choice(choice)
    return {
        "tools": translated,
        **({"tool_config": {"function_calling_config": chosen}} if chosen else {}),
    }


def _choice(choice: Json) -> dict[str, Any]:
    if choice is None:
        return {}
    if isinstance(choice, str) and choice in _CHOICES:
        return {"mode": _CHOICES[choice]}
    if (name := chosen_function(choice)) is not None:
        return {"mode": "ANY", "allowed_function_names": [name]}
    raise unknown_choice(choice)


def _thinking(effort: Json, model: str) -> dict[str, Any]:
    """Return how much the model thinks; it shows what it thinks if it does."""
    if not isinstance(effort, str) or effort not in _BUDGETS:
        msg = f"reasoning_effort is {effort!r}; expected one of {', '.join(_BUDGETS)}"
        raise ValueError(msg)
    if effort == "none":
        return {"thinking_budget": 0}
    if _BUDGETED.match(model):
        return {"thinking_budget": _BUDGETS[effort], "include_thoughts": True}
    return {"thinking_level": effort.upper(), "include_thoughts": True}
