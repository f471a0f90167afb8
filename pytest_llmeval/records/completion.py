"""What a solver made of a sample: the final text, the answer in it, and how it came about."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_llmeval.records.record import Json, Record
from pytest_llmeval.records.request import StopReason
from pytest_llmeval.records.transcript import Transcript


class Completion(Record, frozen=True, kw_only=True):
    """A solver's result. `answer` is None when the text holds none in the demanded form.

    `details` are the solver's own findings, such as ``{"turns": 3}``; they end in the
    row.
    """

    text: str
    stop_reason: StopReason = "stop"
    answer: str | None = None
    transcript: Transcript = Transcript()
    details: Mapping[str, Json] = {}
