"""Tools as text for a prompt, made from their JSON schemas."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pytest_llmeval.engine.tool import Tool

_WORDS: Final = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "null": "null",
    "object": "dictionary",
    "array": "list",
}

_SAID: Final = frozenset({"type", "title", "description", "default"})
"""Keys of a schema that are told in words, or, like titles, only repeat the name."""


def described_tools(tools: Sequence[Tool]) -> str:
    """Return a paragraph for each tool: how it is called, what it does, and its arguments.

    Example::

        ask(question: text, category: "news" | "sports" = "news")
          Asks the oracle.
          question: in plain words
    """
    return "\n\n".join(map(_tool, tools))


def _tool(tool: Tool) -> str:
    properties: Mapping[str, Any] = tool.parameters.get("properties", {})  # type: ignore[assignment]  # by the schema of schemas
    defined: Mapping[str, Any] = tool.parameters.get("$defs", {})  # type: ignore[assignment]  # as above
    required: Sequence[str] = tool.parameters.get("required", ())  # type: ignore[assignment]  # as above
    arguments = ", ".join(
        _argument(name, schema, required=name in required) for name, schema in properties.items()
    )
    told = [
        *(f"{name}: {one['description']}" for name, one in properties.items() if _says(one)),
        *(f"{name}: {_kind(one)}" for name, one in defined.items()),
    ]
    return f"{tool.name}({arguments})\n" + textwrap.indent(
        "\n".join([tool.description, *told]), "  "
    )


def _says(schema: Any) -> bool:  # noqa: ANN401 - a JSON schema
    return isinstance(schema, dict) and "description" in schema


def _argument(name: str, schema: Any, *, required: bool) -> str:  # noqa: ANN401 - a JSON schema
    told = f"{name}: {_kind(schema)}"
    if required:
        return told
    if isinstance(schema, dict) and "default" in schema:
        return f"{told} = {_json(schema['default'])}"
    return f"{told} (optional)"


def _kind(schema: Any) -> str:  # noqa: ANN401 - a JSON schema
    """Return a schema in words where these say all of it, else as JSON."""
    match schema:
        case {"enum": list(values)}:
            said = " | ".join(map(_json, values))
        case {"const": value}:
            said = _json(value)
        case {"anyOf": list(kinds)}:
            said = " | ".join(map(_kind, kinds))
        case {"$ref": str(place)}:
            said = place.rpartition("/")[2]
        case {"type": "array", "items": dict(items)}:
            said = f"list of ({_kind(items)})"
        case {"type": str(kind)} if kind in _WORDS and not schema.keys() - _SAID:
            said = _WORDS[kind]
        case bool():
            said = "any value"
        case _:
            kept = {key: value for key, value in schema.items() if key not in _SAID - {"type"}}
            said = _json(kept)
    return said


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
