"""The answers of a stored run as completions, for scorers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from pytest_llmeval.records import Completion, RowKey, Transcript


class StoredCompletions(Mapping[RowKey, Completion]):
    """Completions with the transcripts of their solvers, which are read when they are asked for.

    So the memory does not grow with the texts of a run.
    """

    def __init__(
        self, answers: Mapping[RowKey, Completion], transcripts: Mapping[RowKey, Transcript]
    ) -> None:
        """Take the answers, and the transcripts of the run; an answer may have none."""
        self._answers, self._transcripts = answers, transcripts

    def __getitem__(self, key: RowKey) -> Completion:
        """Return the completion; KeyError without an answer."""
        transcript = self._transcripts.get(key, Transcript())
        return replace(self._answers[key], transcript=solvers_part(transcript))

    def __iter__(self) -> Iterator[RowKey]:
        """Yield the keys of the answers."""
        return iter(self._answers)

    def __len__(self) -> int:
        """Return the number of answers."""
        return len(self._answers)


def solvers_part(transcript: Transcript) -> Transcript:
    """Return a transcript without the calls of scorers."""
    asked = ((event, getattr(event, "asked", None)) for event in transcript.events)
    kept = (event for event, request in asked if request is None or not request.of_scorer)
    return Transcript(events=tuple(kept))
