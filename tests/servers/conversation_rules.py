"""What the services that our servers play demand of conversations, whatever their JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError


def unpaired(turns: Iterable[tuple[list[Any], list[Any]]]) -> str | None:
    """Return what is wrong with calls and results, of turns as (calls, results), if anything."""
    open_calls: list[Any] = []
    for calls, results in turns:
        if sorted(map(str, open_calls)) != sorted(map(str, results)):
            return f"results for {results} do not answer the calls {open_calls}"
        open_calls = calls
    return f"calls without results: {open_calls}" if open_calls else None


def wrong_schema(schema: Any) -> str | None:
    """Return what is wrong with a JSON schema, if anything."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"invalid schema: {error.message}"
    return None if isinstance(schema, Mapping) else "invalid schema: no object"
