"""A solver's result for one sample."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_llmeval.records.record import Json, Record
from pytest_llmeval.records.request import StopReason
from pytest_llmeval.records.transcript import Transcript


class Completion(Record, frozen=True, kw_only=True):
    """A solver's result for one sample.

    Attributes:
        text: the model's final text.
        stop_reason: why the final reply ended.
        answer: the answer found in `text`; None when it holds none in the required form.
        transcript: all calls, uses of tools and notes that led to it.
        details: further facts from the solver, such as ``{"turns": 3}``; stored in the row.
    """

    text: str
    stop_reason: StopReason = "stop"
    answer: str | None = None
    transcript: Transcript = Transcript()
    details: Mapping[str, Json] = {}
