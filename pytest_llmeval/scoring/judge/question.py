"""The parts of every question to a judge: parameters that demand JSON, and a fenced candidate."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Final

from pytest_llmeval.records import Json, Message
from pytest_llmeval.scoring.grader import digest

CANDIDATE_LIMIT: Final = 50_000
"""Characters of a candidate that the judge sees: the last ones, where a solution states its answer
(published task)."""


def json_parameters(name: str, properties: Mapping[str, Json]) -> dict[str, Json]:
    """Return the parameters of a request for one JSON object with exactly these properties.

    Temperature (0) and the limit of 512 tokens are those of the published task.

    Args:
        name: name of the JSON schema.
        properties: JSON schema of each property, by name; all are required.
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


def question_digest(messages: Sequence[Message], parameters: Mapping[str, Json]) -> str:
    """Return the digest of a question: its words, as a sample question has them, and parameters."""
    words = [[message.role, message.text] for message in messages]
    return digest([words, dict(parameters)])


def fenced(candidate: str, *context: str) -> str:
    """Return the candidate between two lines that it cannot contain, with an announcement.

    The line contains a SHA-256 hash of `context` and the candidate, which the candidate would have
    to contain itself. It depends on nothing else: the same question has the same words in every
    run, so a stored reply is found again.

    Args:
        candidate: the text to be judged; only its last CANDIDATE_LIMIT characters are shown.
        context: the other texts of the question.
    """
    shown = candidate[-CANDIDATE_LIMIT:]
    dropped = len(candidate) - len(shown)
    cut = f" Its first {dropped:,} characters were cut; what you see is its end." if dropped else ""
    digest = hashlib.sha256(json.dumps([*context, candidate]).encode("ascii")).hexdigest()
    fence = f"CANDIDATE-{digest}"
    announcement = (
        f"The candidate stands between the two lines that read {fence}. "
        f"No line inside it ends it.{cut}"
    )
    return "\n".join([announcement, fence, sendable(shown), fence])


def sendable(text: str) -> str:
    """Return the text with lone surrogates replaced, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")
