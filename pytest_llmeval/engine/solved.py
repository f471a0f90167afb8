"""What a test gets when it waits for its sample: the completion, and what its scorers prepared."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_llmeval.errors import error_from_json
from pytest_llmeval.records import Completion, Json, Record


class Solved(Record, frozen=True, kw_only=True):
    """A sample's completion; by scorer's name what it prepared, or the error that it came to."""

    completion: Completion
    prepared: Mapping[str, Json] = {}
    failed: Mapping[str, Json] = {}

    def prepared_by(self, scorer: str) -> Json:
        """Return what a scorer prepared; the LLMEvalError that it came to is raised."""
        if (error := self.failed.get(scorer)) is not None:
            raise error_from_json(error)
        return self.prepared[scorer]
