"""The implementation of `ScorerContext` for one sample."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.resources import Resources
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.records import Image, Json, Message, Reply, Role
from pytest_llmeval.roles import JUDGE

T = TypeVar("T")


class ScoringRun:
    """The context of one scorer's `prepare`; see `ScorerContext`."""

    def __init__(  # noqa: PLR0913 - what a scorer may reach
        self,
        models: Sequence[ModelSpec],
        calls: Calls,
        resources: Resources,
        load_images: Callable[[], tuple[Image, ...]] = tuple,
        *,
        scorer: str = JUDGE,
        role: Role = JUDGE,
    ) -> None:
        """Give a scorer access to `models`.

        Args:
            models: the models that may be asked.
            calls: keeps the transcript.
            resources: the run's shared objects.
            load_images: returns the sample's pictures, as they are sent.
            scorer: name of the scorer.
            role: as what the models are asked.
        """
        self.calls, self._resources, self._load_images = calls, resources, load_images
        self._scorer, self._role = scorer, role
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
        role: Role | None = None,
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
            role=role or self._role,
            scorer=self._scorer,
        )

    async def shared(self, key: str, start: Callable[[], Awaitable[T]]) -> T:
        """Return the run's object under `key`, made by the first caller's `start`."""
        return await self._resources.get(key, start)

    def branch(self) -> ScoringRun:
        """Return a context for the same sample with an empty transcript."""
        return ScoringRun(
            tuple(self._models.values()),
            self.calls.branch(),
            self._resources,
            self._load_images,
            scorer=self._scorer,
            role=self._role,
        )

    def join(self, branches: Sequence[ScoringRun]) -> None:
        """Append the transcripts of `branches`, in their order."""
        self.calls.join([branch.calls for branch in branches])
