"""The JSON Schema of ``summary.json``.

``python -m pytest_llmeval.results.summary_schema > docs/summary.schema.json`` renews the documented one.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pydantic import TypeAdapter

from pytest_llmeval.records import Json
from pytest_llmeval.results.gate import GateResult
from pytest_llmeval.results.summary import SCHEMA, Summary


def summary_schema() -> dict[str, Json]:
    """Return the schema (2020-12). A reader takes what it knows: properties may be added under the same version."""
    summary: dict[str, Any] = TypeAdapter(Summary).json_schema(mode="serialization")
    gate: dict[str, Any] = TypeAdapter(GateResult).json_schema(mode="serialization")
    verdict: Json = {"type": "boolean", "description": "Whether every rule was met."}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "summary.json of a pytest-llmeval run",
        "type": "object",
        "required": ["schema", "entries", "gate", "engine"],
        "properties": {
            "schema": {"const": SCHEMA, "description": "Rises when a reader of the old form would misread the new."},
            **summary["properties"],
            "gate": {
                "anyOf": [
                    {
                        **{name: gate[name] for name in ("type", "description")},
                        "required": ["passed", "results", "inconclusive_passes"],
                        "properties": {"passed": verdict, **gate["properties"]},
                    },
                    {"type": "null", "description": "No gate was asked for."},
                ]
            },
            "engine": {"type": ["object", "null"], "description": "What the calls of the last session came to."},
        },
        "$defs": {**summary["$defs"], **gate["$defs"]},
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(summary_schema(), indent=2) + "\n")
