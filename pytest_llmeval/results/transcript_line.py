"""One line of a run's transcripts: the key of a row, and what happened for it."""

from __future__ import annotations

from typing import Self

from pytest_llmeval.records import Event, RowKey, Transcript
from pytest_llmeval.results.keyed_lines import KeyLine


class TranscriptLine(KeyLine, frozen=True, kw_only=True):
    """The transcript of one row.

    Attributes:
        test, task, sample, model, epoch: the row's key.
        events: the transcript's.
    """

    events: tuple[Event, ...]

    @classmethod
    def of(cls, key: RowKey, transcript: Transcript) -> Self:
        """Return the line of a row's transcript."""
        return cls(**key._asdict(), events=transcript.events)
