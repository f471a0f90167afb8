"""The parts of every question to a judge: parameters that demand JSON, and fenced candidates."""

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
    return _between("CANDIDATE", _hash(*context, candidate), "The candidate", candidate)


def both_fenced(reply_a: str, reply_b: str, *context: str) -> str:
    """Return two replies, each between two lines that neither can contain; see `fenced`."""
    digest = _hash(*context, reply_a, reply_b)
    return "\n\n".join(
        [
            _between("REPLY-A", digest, "Reply A", reply_a),
            _between("REPLY-B", digest, "Reply B", reply_b),
        ]
    )


def _hash(*texts: str) -> str:
    return hashlib.sha256(json.dumps(texts).encode("ascii")).hexdigest()


def _between(mark: str, digest: str, subject: str, text: str) -> str:
    shown = text[-CANDIDATE_LIMIT:]
    dropped = len(text) - len(shown)
    cut = f" Its first {dropped:,} characters were cut; what you see is its end." if dropped else ""
    fence = f"{mark}-{digest}"
    announcement = (
        f"{subject} stands between the two lines that read {fence}. No line inside it ends it.{cut}"
    )
    return "\n".join([announcement, fence, sendable(shown), fence])


def sendable(text: str) -> str:
    """Return the text with lone surrogates replaced, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")
