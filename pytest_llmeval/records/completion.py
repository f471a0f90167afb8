"""What a solver made of a sample: the final text, the answer in it, and how it came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from pytest_llmeval.records.message import Json
from pytest_llmeval.records.request import StopReason
from pytest_llmeval.records.score import TAXONOMY, ErrorLabel
from pytest_llmeval.records.transcript import Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A solver's result. `answer` is None when the text holds none in the demanded form.

    `details` are the solver's own findings, such as ``{"valid_cypher": true}``; they end in the
    row.
    """

    text: str
    stop_reason: StopReason = "stop"
    answer: str | None = None
    transcript: Transcript = field(default_factory=Transcript)
    details: Mapping[str, Json] = field(default_factory=dict)

    def labelled(self, label: ErrorLabel) -> Completion:
        """Return the completion with the kind of its error among the details."""
        return replace(self, details={**self.details, TAXONOMY: label.to_json()})

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "text": self.text,
            "stop_reason": self.stop_reason,
            "answer": self.answer,
            "transcript": self.transcript.to_json(),
            "details": dict(self.details),
        }

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> Completion:
        """Return the completion that `to_json` wrote."""
        return cls(
            text=str(data["text"]),
            stop_reason=cast("StopReason", data["stop_reason"]),
            answer=cast("str | None", data["answer"]),
            transcript=Transcript.from_json(cast("list[dict[str, Json]]", data["transcript"])),
            details=cast("dict[str, Json]", data["details"]),
        )
