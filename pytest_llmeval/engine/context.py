"""The port between solvers and the engine: `Solver` and its `SolverContext`."""

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
    Role,
    Sample,
    ToolUse,
)
from pytest_llmeval.roles import SOLVER

T = TypeVar("T")


class RunContext(Protocol):
    """What a solver may use before any sample: the run's options and shared resources."""

    async def shared(self, key: str, start: Callable[[], Awaitable[T]]) -> T:
        """Return an object that all samples of the run share, such as a database.

        It is closed at the end of the run, if it has a method `close` (async or not).

        Args:
            key: its name.
            start: makes it, for the first caller of the key only. If it raises an LLMEvalError,
                all callers get that error.
        """
        ...

    def setting(self, name: str) -> str | None:
        """Return the value of the option ``--llmeval-NAME``; None when it is not given."""
        ...

    def tell(self, text: str) -> None:
        """Show a line to the user, such as that a database is starting; it is not stored."""
        ...


class SolverContext(RunContext, Protocol):
    """What a solver may use for one sample: models, prompts, shared resources, the transcript.

    The engine provides it and records the calls. Every method may raise an LLMEvalError, which
    solvers should not catch: it becomes the sample's error.
    """

    @property
    def epoch(self) -> int:
        """Number of the sample's repetition, from 1."""
        ...

    @property
    def images(self) -> tuple[Image, ...]:
        """The sample's pictures, in order."""
        ...

    def prompt(self, stage: str = "generate", **variables: Json) -> tuple[Message, ...]:
        """Return the task's messages of one stage, rendered with the sample and `variables`.

        ``<image>`` in the sample's input or in the template is replaced by the next picture;
        remaining pictures come first in the last user message.
        """
        ...

    async def generate(  # noqa: PLR0913 - the parts of a request
        self,
        messages: Sequence[Message],
        *,
        stage: str = "generate",
        operation: Operation = "chat",
        draw: int = 0,
        parameters: dict[str, Json] | None = None,
        role: Role = SOLVER,
    ) -> Reply:
        """Send a request to the model under test, or of another role, and return the reply.

        Args:
            messages: the conversation.
            stage: step of the solver, for the transcript.
            operation: whether a message or a picture is requested.
            draw: number, from 0; equal requests with different draws are separate calls.
            parameters: override those of the task for this call. The task's go to the model under
                test alone.
            role: as what the model is asked; the run has one for each role that the solver declares
                (`AskingSolver`).
        """
        ...

    def save_image(self, data: bytes) -> Image:
        """Store a picture in the run's folder; ValueError when the bytes are not a picture."""
        ...

    def record(self, use: ToolUse) -> None:
        """Append the use of a tool to the transcript."""
        ...

    def note(self, stage: str, text: str) -> None:
        """Append a remark to the transcript."""
        ...


class Solver(Protocol):
    """An async pipeline from a sample to a completion.

    The engine adds the transcript, and the answer unless the solver sets it. A solver may also have
    the attributes of `StagedSolver` and `AskingSolver`, the methods of `PromptCheckingSolver` and
    `ReadySolver`, and `display` (see `records.Display`).

    Example::

        async def solve(sample, context):
            reply = await context.generate(context.prompt())
            return Completion(text=reply.text, stop_reason=reply.stop_reason)
    """

    async def __call__(self, sample: Sample, context: SolverContext) -> Completion:
        """Solve one sample; hundreds of calls run concurrently in one event loop."""
        ...


@runtime_checkable
class StagedSolver(Protocol):
    """A solver that declares the stages of its prompt and their variables."""

    @property
    def stages(self) -> tuple[str, ...]:
        """Stages of the prompt, in the order of their requests."""
        ...

    def variables(self) -> Mapping[str, Json]:
        """Return the variables of its prompts as they are before any reply, to estimate tokens.

        Those that hold texts of replies are "".
        """
        ...


@runtime_checkable
class AskingSolver(Protocol):
    """A solver that asks other models than the one under test, such as one that plays the user.

    If a role has no model, that is told before anything is asked. A role that is not declared can
    be asked too, and is told missing by the first sample that asks it.

    Example::

        async def solve(sample, context):
            reply = await context.generate(context.prompt())
            question = await context.generate([Message.of("user", reply.text)], role="user")
            ...

        solve.roles = ("user",)
    """

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles that it asks, without ``solver``, the model under test."""
        ...


@runtime_checkable
class PromptCheckingSolver(StagedSolver, Protocol):
    """A solver whose prompts must hold something, such as how the model calls tools."""

    def check_prompt(self, stage: str, messages: Sequence[Message]) -> None:
        """Raise ValueError if the messages lack it; the text says what to write into the prompt.

        It is called for the first selected sample of a task, before anything is asked.

        Args:
            stage: one of `stages`.
            messages: its prompt, rendered with `variables`.
        """
        ...


@runtime_checkable
class OpeningCheckingSolver(StagedSolver, Protocol):
    """A solver whose prompts must fit what else it takes from a sample."""

    def check_opening(self, stage: str, messages: Sequence[Message], sample: Sample) -> None:
        """Raise ValueError if they do not; the text says what to change in the task.

        It is called as `PromptCheckingSolver.check_prompt`, with the sample of the messages.
        """
        ...


@runtime_checkable
class SampleCheckingSolver(Protocol):
    """A solver that needs something of each sample, such as a certain picture."""

    def check_sample(self, sample: Sample) -> None:
        """Raise ValueError if the sample lacks it; the text says what the dataset must have.

        It is called for each sample when the dataset is read, before anything is asked.
        """
        ...


@runtime_checkable
class ToolOfferingSolver(Protocol):
    """A solver whose tools are known by name before it runs."""

    @property
    def tool_names(self) -> tuple[str, ...] | None:
        """The names of all tools that a model may call; None if they are not known yet."""
        ...


@runtime_checkable
class ReadySolver(Protocol):
    """A solver that starts something slow before its first sample needs it.

    Example::

        async def get_ready(self, context):
            await context.shared("oven", preheated_oven)
    """

    async def get_ready(self, context: RunContext) -> None:
        """Start what the samples will need, by `RunContext.shared`.

        It is called once when a run with samples of the solver's task begins, and runs beside the
        first requests, which do not wait for it.
        """
        ...
