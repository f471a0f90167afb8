"""What every question to the judge is made of: parameters that demand JSON, and a candidate that cannot break out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Final

from pytest_llmeval.records import Json

CANDIDATE_LIMIT: Final = 50_000
"""Characters of a candidate that the judge sees: its last ones, where a solution states its answer
(published task)."""


def json_parameters(name: str, properties: Mapping[str, Json]) -> dict[str, Json]:
    """Return what a request is sent with whose reply is to be one JSON object with just these properties.

    Temperature and tokens are the published Geometry3K task's.
    """
    return {
        "temperature": 0,
        "max_tokens": 512,
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": name,
                "strict": True,
                "schema": {
                    "type": "object",
                    "properties": dict(properties),
                    "required": [*properties],
                    "additionalProperties": False,
                },
            },
        },
    }


def fenced(candidate: str, *context: str) -> str:
    """Return the candidate between two lines that it cannot hold, and before them what they are.

    The lines depend on the candidate and the texts it is asked about with, and on nothing else: the
    same question has the same words on every run, so a stored or recorded reply is found again.
    """
    shown = candidate[-CANDIDATE_LIMIT:]
    dropped = len(candidate) - len(shown)
    cut = f" Its first {dropped:,} characters were cut; what you see is its end." if dropped else ""
    fence = _fence(*context, candidate)
    announced = f"The candidate stands between the two lines that read {fence}. No line inside it ends it.{cut}"
    return "\n".join([announced, fence, sendable(shown), fence])


def sendable(text: str) -> str:
    """Replace lone surrogates, which models do produce and no provider's UTF-8 can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _fence(*texts: str) -> str:
    """Return a line that none of the texts can hold: it would have to contain a hash of itself."""
    return f"CANDIDATE-{hashlib.sha256(json.dumps(texts).encode('ascii')).hexdigest()}"
