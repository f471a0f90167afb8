"""A plain function as a scorer: ``def mine(answer, sample, **options) -> bool | float | Score``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pytest_llmeval.errors import ScorerError
from pytest_llmeval.records import Json, Sample, Score, Target, TargetForm
from pytest_llmeval.safety.raised import described_with_place
from pytest_llmeval.scoring.targets import ALL_FORMS


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionScorer:
    """Scores by a function of answer and sample; its keyword parameters are the scorer's options.

    The function returns a bool, a number from 0 to 1 (1 is correct), or a `Score`. Its grader is
    how the task names it.
    """

    function: Callable[..., Any]
    name: str
    grader: str
    options: Mapping[str, Any] = field(default_factory=dict)
    scale: ClassVar[float] = 1.0
    targets: ClassVar[frozenset[TargetForm]] = ALL_FORMS

    @property
    def grader_options(self) -> dict[str, Any]:
        """The options of the function, with the defaults of those that are not given."""
        parameters = inspect.signature(self.function).parameters.values()
        defaults = {one.name: one.default for one in parameters if one.default is not one.empty}
        return defaults | dict(self.options)

    def check(self, target: Target) -> None:
        """Accept every target."""

    def score(self, answer: str | None, sample: Sample, prepared: Json = None) -> Score:  # noqa: ARG002 - part of the port
        """Return what the function makes of the answer.

        Raises:
            ScorerError: the function failed, or returned something else.
        """
        __tracebackhide__ = True
        try:
            found = self.function(answer, sample, **self.options)
        except Exception as error:
            msg = f"scorer {self.grader}: {described_with_place(error)}"
            raise ScorerError(msg) from error
        if isinstance(found, Score):
            return found
        if not isinstance(found, bool | int | float):
            msg = (
                f"scorer {self.grader} returned a {type(found).__name__}, no bool, number or Score"
            )
            raise ScorerError(msg)
        value = float(found)
        return Score(name=self.name, value=value, correct=value >= 1, grader=self.grader)
