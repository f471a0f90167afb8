"""What a solver is, and what it may use: the port between a solver and the engine that runs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeVar, runtime_checkable

from pytest_llmeval.records import (
    Completion,
    Image,
    Json,
    Message,
    Operation,
    Reply,
    Sample,
    ToolUse,
)

T = TypeVar("T")


class SolverContext(Protocol):
    """One sample's way to models, tools and prompts; the engine supplies it and keeps the transcript.

    All calls may raise an LLMEvalError, which a solver lets pass: it becomes the sample's error.
    """

    @property
    def epoch(self) -> int:
        """Number of the sample's repetition, from 1."""
        ...

    @property
    def images(self) -> tuple[Image, ...]:
        """The sample's own pictures, in order."""
        ...

    def prompt(self, stage: str = "generate", **variables: Json) -> tuple[Message, ...]:
        """Return the task's messages of one stage, filled from the sample and `variables`.

        ``<image>`` in the sample's input becomes its picture in place; pictures that no text names
        come first.
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
        """Ask the model under test; `parameters` override the task's own for this call."""
        ...

    async def shared(self, key: str, start: Callable[[], Awaitable[T]]) -> T:
        """Return the run's object under `key`, such as a database, made by the first caller's `start`.

        All samples get the same object, or the same LLMEvalError if `start` raised one. It is
        closed at the end of the run, if it has a method `close` (async or not).
        """
        ...

    def setting(self, name: str) -> str | None:
        """Return the value of the session's option ``--llmeval-NAME``, None when it is not given."""
        ...

    def tell(self, text: str) -> None:
        """Show a line to the user, such as that a database starts; nothing of it is stored."""
        ...

    def save_image(self, data: bytes) -> Image:
        """Keep a picture that the solver made in the run's folder; ValueError when it is none."""
        ...

    def record(self, use: ToolUse) -> None:
        """Append the use of a tool to the transcript."""
        ...

    def note(self, stage: str, text: str) -> None:
        """Append a remark to the transcript."""
        ...


class Solver(Protocol):
    """An async pipeline from sample to completion.

    The engine fills in the completion's transcript, and its answer unless the solver sets it. A
    solver may also have the attributes of `StagedSolver`, and `display` (`records.Display`).
    """

    async def __call__(self, sample: Sample, context: SolverContext) -> Completion:
        """Solve one sample. Hundreds of calls run at the same time in one event loop."""
        ...


@runtime_checkable
class StagedSolver(Protocol):
    """A solver that says which stages of the prompt it asks for, and what fills them."""

    @property
    def stages(self) -> tuple[str, ...]:
        """Stages of the prompt, in the order in which they are asked."""
        ...

    def variables(self) -> Mapping[str, Json]:
        """Return the variables of its prompts as far as they are known before any reply.

        What replies will bring is "".
        """
        ...
