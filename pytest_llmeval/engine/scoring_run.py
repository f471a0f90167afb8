"""The implementation of `ScorerContext` for one sample."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.resources import Resources
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.records import Image, Json, Message, Reply, Role

T = TypeVar("T")


class ScoringRun:
    """The context of one scorer's `prepare`; see `ScorerContext`."""

    def __init__(
        self,
        models: Sequence[ModelSpec],
        calls: Calls,
        resources: Resources,
        load_images: Callable[[], tuple[Image, ...]] = tuple,
    ) -> None:
        """Give the scorer access to `models`.

        Args:
            models: the models that may be asked.
            calls: keeps the transcript.
            resources: the run's shared objects.
            load_images: returns the sample's pictures, as they are sent.
        """
        self.calls, self._resources, self._load_images = calls, resources, load_images
        labels = [model.label for model in models]
        self._models = {
            model.label if labels.count(model.label) == 1 else model.text: model for model in models
        }

    @property
    def epoch(self) -> int:
        """Number of the sample's repetition, from 1."""
        return self.calls.epoch

    @property
    def models(self) -> tuple[str, ...]:
        """Labels of the models that may be asked, or specs where two have the same label."""
        return tuple(self._models)

    @property
    def images(self) -> tuple[Image, ...]:
        """The sample's pictures, as they are sent."""
        return self._load_images()

    async def generate(  # noqa: PLR0913 - the parts of a request
        self,
        messages: Sequence[Message],
        *,
        model: str,
        stage: str,
        role: Role = "judge",
        draw: int = 0,
        parameters: Mapping[str, Json] | None = None,
    ) -> Reply:
        """Send a request to one of `models`, and return the reply."""
        return await self.calls.ask(
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
        models, calls = tuple(self._models.values()), self.calls.branch()
        return ScoringRun(models, calls, self._resources, self._load_images)

    def join(self, branches: Sequence[ScoringRun]) -> None:
        """Append the transcripts of `branches`, in their order."""
        self.calls.join([branch.calls for branch in branches])
