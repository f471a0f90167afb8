"""One sample on its way through a scorer: the engine's side of `scoring.scorer.ScorerContext`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.resources import Resources
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.records import Json, Message, Reply, Role

T = TypeVar("T")


class ScoringRun:
    """Serves one scorer, and notes its calls in the sample's `calls`."""

    def __init__(self, models: Sequence[ModelSpec], calls: Calls, resources: Resources) -> None:
        """Let the scorer ask `models`."""
        self._calls, self._resources = calls, resources
        labels = [model.label for model in models]
        self._models = {
            model.label if labels.count(model.label) == 1 else model.text: model for model in models
        }

    @property
    def epoch(self) -> int:
        """Number of the sample's repetition, from 1."""
        return self._calls.epoch

    @property
    def models(self) -> tuple[str, ...]:
        """Labels of the models that may be asked."""
        return tuple(self._models)

    async def generate(  # noqa: PLR0913 - a request has that many parts
        self,
        messages: Sequence[Message],
        *,
        model: str,
        stage: str,
        role: Role = "judge",
        draw: int = 0,
        parameters: Mapping[str, Json] | None = None,
    ) -> Reply:
        """Ask one of `models`."""
        return await self._calls.ask(
            self._models[model],
            messages,
            stage=stage,
            parameters=parameters or {},
            draw=draw,
            role=role,
        )

    async def shared(self, key: str, start: Callable[[], Awaitable[T]]) -> T:
        """Return the run's object under `key`, made by the first caller's `start`."""
        return await self._resources.get(key, start)

    def branch(self) -> ScoringRun:
        """Return a context for the same sample with an empty transcript."""
        return ScoringRun(tuple(self._models.values()), self._calls.branch(), self._resources)

    def join(self, branches: Sequence[ScoringRun]) -> None:
        """Append the transcripts of `branches`, in their order."""
        self._calls.join([branch._calls for branch in branches])
