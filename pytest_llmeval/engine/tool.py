"""What a tool is: the port between a model that calls tools and whatever runs for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from pytest_llmeval.engine.context import RunContext, SolverContext
from pytest_llmeval.records import Json, Role, ToolUse


class CallError(Exception):
    """A call of a tool that cannot be carried out as the model wrote it: the model's mistake.

    A tool raises it; the message is shown to the model, which may call again.
    """


class Tool(Protocol):
    """Something that a model may call. One object for each use in a task, made from its options.

    A tool may also have the methods of `ToolWithVariables`, `ToolWithFindings`, `ToolWithCheck` and
    `ReadyTool`, and the attributes `roles` (`AskingTool`) and `display` (`records.Display`).
    """

    @property
    def name(self) -> str:
        """Name under which the model calls it: letters, digits, `_` and `-`, 64 at most."""
        ...

    @property
    def description(self) -> str:
        """What the model is told about it."""
        ...

    @property
    def parameters(self) -> Mapping[str, Json]:
        """JSON schema of its arguments, of the type ``object``."""
        ...

    async def __call__(
        self, arguments: Mapping[str, Json], context: SolverContext, *, stage: str
    ) -> ToolUse:
        """Run one call, record it in the transcript of `context`, and return the record.

        The model is shown `output`, or `error` if it is not None. The arguments are those of the
        model, hostile input that fits `parameters`.

        Raises:
            CallError: the call is wrong; the model is told.
            Exception: the tool failed, not the model; a ToolError says it best.
        """
        ...


@runtime_checkable
class ToolWithVariables(Tool, Protocol):
    """A tool that brings variables for the prompt, such as the names that it knows."""

    def variables(self) -> Mapping[str, Json]:
        """Return the variables."""
        ...


@runtime_checkable
class ToolWithFindings(Tool, Protocol):
    """A tool that tells what its uses in one sample amount to."""

    def findings(self, uses: Sequence[ToolUse]) -> Mapping[str, Json]:
        """Return details for the completion; `uses` are the tool's own, in order, or none.

        Another tool's keys, ``calls``, ``ended``, ``failed_calls``, ``reason`` and ``turns`` are
        refused.
        """
        ...


@runtime_checkable
class ToolWithCheck(Tool, Protocol):
    """A tool that checks the run's options, and what it needs, before a request is paid."""

    async def check(self, context: RunContext) -> None:
        """Raise an LLMEvalError if no call could succeed, such as by a wrong option.

        It is called for every sample; `RunContext.shared` lets it do its work once in a run.
        """
        ...


@runtime_checkable
class AskingTool(Tool, Protocol):
    """A tool that asks other models than the one under test, by its context's ``generate``."""

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles that it asks; see `AskingSolver`."""
        ...


@runtime_checkable
class ReadyTool(Tool, Protocol):
    """A tool that starts something slow before its first call."""

    async def get_ready(self, context: RunContext) -> None:
        """Start what calls will need; see `ReadySolver.get_ready`."""
        ...
