"""One sample on its way through a solver: the engine's side of `solvers.context.SolverContext`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.ports import Graph, ImageStore
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import (
    GraphQuery,
    Image,
    Json,
    Message,
    Operation,
    Reply,
    Sample,
    StageNote,
)

if TYPE_CHECKING:
    from pytest_llmeval.task import Task


class SampleRun:
    """Serves one solver and notes what it does in the sample's `calls`."""

    def __init__(  # noqa: PLR0913 - one collaborator for each thing a solver may ask for
        self,
        *,
        task: Task,
        sample: Sample,
        model: ModelSpec,
        calls: Calls,
        image_store: ImageStore,
        open_graph: Callable[[Path], Awaitable[Graph]],
    ) -> None:
        """Run `sample` of `task` against `model`; `open_graph` gives the graph of a scene's file."""
        self._task, self._sample, self._model, self._calls = task, sample, model, calls
        self._image_store, self._open_graph = image_store, open_graph

    @property
    def epoch(self) -> int:
        """Which repetition of the sample this is."""
        return self._calls.epoch

    @cached_property
    def images(self) -> tuple[Image, ...]:
        """The sample's pictures."""
        return tuple(self._image_store.load(path) for path in self._sample.images)

    @property
    def scene(self) -> Path:
        """The file of the task's scene graph; TaskError when the task names none."""
        if self._task.graph is None:
            msg = "its solver needs a scene graph, but the task names none; add `graph: {scene: FILE}`"
            raise TaskError(msg, file=self._task.file, key="graph")
        return self._task.graph.scene

    def prompt(self, stage: str = "generate", **variables: Json) -> tuple[Message, ...]:
        """Return the task's messages of one stage, filled."""
        from pytest_llmeval.task.rendering import render  # noqa: PLC0415 - jinja2 is loaded with the first prompt

        return render(self._task, stage, self._sample, self.images, variables)

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        stage: str = "generate",
        operation: Operation = "chat",
        draw: int = 0,
        parameters: dict[str, Json] | None = None,
    ) -> Reply:
        """Ask the model under test."""
        merged = {**self._task.generate, **(parameters or {})}
        return await self._calls.ask(
            self._model, messages, stage=stage, operation=operation, draw=draw, parameters=merged
        )

    async def query(self, cypher: str, *, stage: str = "query") -> GraphQuery:
        """Run a model's Cypher on the task's graph."""
        graph = await self._open_graph(self.scene)
        result = await graph.query(cypher, stage=stage)
        self._calls.note(result)
        return result

    def save_image(self, data: bytes) -> Image:
        """Keep a picture in the run's folder."""
        return self._image_store.save(data)

    def note(self, stage: str, text: str) -> None:
        """Put a remark into the transcript."""
        self._calls.note(StageNote(stage=stage, text=text))
