"""The JSON Schema of ``summary.json``.

``python -m pytest_llmeval.results.summary_schema > docs/summary.schema.json`` renews the documented
one.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pydantic import TypeAdapter

from pytest_llmeval.records import Json
from pytest_llmeval.results.gate import GateResult
from pytest_llmeval.results.rescoring import Rescoring
from pytest_llmeval.results.summary import SCHEMA, Summary


def summary_schema() -> dict[str, Json]:
    """Return the schema (2020-12).

    A reader takes what it knows: properties may be added under the same version.
    """
    summary, gate, again = (
        TypeAdapter[Any](kind).json_schema(mode="serialization")
        for kind in (Summary, GateResult, Rescoring)
    )
    gate["properties"]["passed"] = {"type": "boolean", "description": "Whether every rule was met."}
    definitions = {
        name: body for part in (summary, gate, again) for name, body in part.pop("$defs").items()
    }
    nothing: Json = {"type": "null", "description": "Not asked for."}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "summary.json of a pytest-llmeval run",
        "type": "object",
        "required": ["schema", "entries", "gate", "rescoring", "engine"],
        "properties": {
            "schema": {
                "const": SCHEMA,
                "description": "Rises when a reader of the old form would misread the new.",
            },
            **summary["properties"],
            "gate": {"anyOf": [gate, nothing]},
            "rescoring": {"anyOf": [again, nothing]},
            "engine": {
                "type": ["object", "null"],
                "description": "What the calls of the last session came to.",
            },
        },
        "$defs": definitions,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(summary_schema(), indent=2) + "\n")
