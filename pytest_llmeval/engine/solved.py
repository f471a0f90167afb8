"""The engine's result for one sample: the completion, and what its scorers prepared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pytest_llmeval.records import Completion, Json, Record, Role
from pytest_llmeval.records.error_json import error_from_json


class Solved(Record, frozen=True, kw_only=True):
    """The engine's result for one sample.

    Attributes:
        completion: the solver's result.
        prepared: what each scorer's `prepare` returned, by the scorer's name.
        failed: the error of each scorer's failed `prepare`, as JSON, by the scorer's name.
        judges: names of the models that each scorer with `prepare` may ask, by the scorer's name.
        partners: name of the model that the solver asked in each role but ``solver``.
    """

    completion: Completion
    prepared: Mapping[str, Json] = {}
    failed: Mapping[str, Json] = {}
    judges: Mapping[str, tuple[str, ...]] = {}
    partners: Mapping[Role, str] = {}

    @classmethod
    def of(cls, answer: Answer) -> Solved:
        """Return the result that a link brought: itself, or from another process its JSON form."""
        return answer if isinstance(answer, Solved) else cls.from_json(answer)

    def prepared_by(self, scorer: str) -> Json:
        """Return what a scorer prepared; LLMEvalError if its `prepare` failed."""
        __tracebackhide__ = True
        if (error := self.failed.get(scorer)) is not None:
            raise error_from_json(error)
        return self.prepared[scorer]


Answer: TypeAlias = Json | Solved
"""The engine's answer to a wish of a test (see `Run.answer`)."""
