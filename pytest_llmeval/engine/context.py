"""What a solver may use: the port between a solver and the engine that runs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

from pytest_llmeval.records import (
    Completion,
    GraphQuery,
    Image,
    Json,
    Message,
    Operation,
    Reply,
    Sample,
)


class SolverContext(Protocol):
    """One sample's way to models, graph and prompts; the engine supplies it and keeps the transcript.

    All calls may raise an LLMEvalError, which a solver lets pass: it becomes the sample's error.
    """

    @property
    def epoch(self) -> int:
        """Which repetition of the sample this is, from 1."""
        ...

    @property
    def images(self) -> tuple[Image, ...]:
        """The sample's own pictures, in order."""
        ...

    @property
    def scene(self) -> Path:
        """The file of the task's scene graph; TaskError when the task names none."""
        ...

    def prompt(self, stage: str = "generate", **variables: Json) -> tuple[Message, ...]:
        """Return the task's messages of one stage, filled from the sample and `variables`.

        ``<image>`` in the sample's input becomes its picture in place; pictures never named so come
        first.
        """
        ...

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        stage: str = "generate",
        operation: Operation = "chat",
        draw: int = 0,
        parameters: dict[str, Json] | None = None,
    ) -> Reply:
        """Ask the model under test; `parameters` go over the task's own for this stage."""
        ...

    async def query(self, cypher: str, *, stage: str = "query") -> GraphQuery:
        """Run a model's Cypher read-only; refusal and failure are told in the result's `error`."""
        ...

    def save_image(self, data: bytes) -> Image:
        """Keep a picture that the solver made in the run's folder."""
        ...

    def note(self, stage: str, text: str) -> None:
        """Put a remark into the transcript."""
        ...


Solver: TypeAlias = Callable[[Sample, SolverContext], Awaitable[Completion]]
"""An async pipeline from sample to completion. `answer` and `transcript` are filled in by the
engine unless the solver sets `answer` itself."""
