"""The JSON Schema of ``summary.json``.

``python -m pytest_llmeval.results.summary_schema > docs/summary.schema.json`` renews the documented
one.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import msgspec

from pytest_llmeval.records import Json
from pytest_llmeval.results.gate_result import GateResult
from pytest_llmeval.results.pipeline_record import PipelineTable
from pytest_llmeval.results.rescoring import Rescoring
from pytest_llmeval.results.summary import SCHEMA, Summary

_REF = "#/$defs/{name}"


def summary_schema() -> dict[str, Json]:
    """Return the schema (2020-12).

    A reader takes what it knows: properties may be added under the same version.
    """
    kinds = (Summary, PipelineTable, GateResult, Rescoring)
    _, components = msgspec.json.schema_components(kinds, ref_template=_REF)
    # Defaults come as tuples, which JSON has not.
    definitions = json.loads(json.dumps(components))
    for body in definitions.values():
        _require_all(body)
    summary, gate = definitions.pop("Summary"), definitions["GateResult"]
    gate["properties"]["passed"] = {"type": "boolean", "description": "Whether every rule was met."}
    nothing: Json = {"type": "null", "description": "Not asked for."}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "summary.json of a pytest-llmeval run",
        "type": "object",
        "required": ["schema", "entries", "pipelines", "gate", "rescoring", "engine"],
        "properties": {
            "schema": {
                "const": SCHEMA,
                "description": "Rises when a reader of the old form would misread the new.",
            },
            **summary["properties"],
            "pipelines": {
                "type": "array",
                "items": {"$ref": _REF.format(name="PipelineTable")},
                "description": "Tasks that asked a model the same questions, compared.",
            },
            "gate": {"anyOf": [{"$ref": _REF.format(name="GateResult")}, nothing]},
            "rescoring": {"anyOf": [{"$ref": _REF.format(name="Rescoring")}, nothing]},
            "engine": {
                "type": ["object", "null"],
                "description": "What the calls of the last session came to.",
            },
        },
        "$defs": definitions,
    }


def _require_all(body: dict[str, Any]) -> None:
    """Make all properties of an object required: what is written has all of them."""
    if body.get("type") == "object" and "properties" in body:
        body["required"] = list(body["properties"])


if __name__ == "__main__":
    sys.stdout.write(json.dumps(summary_schema(), indent=2) + "\n")
