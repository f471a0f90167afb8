"""Everything that happened for one sample: model calls, uses of tools, notes of a solver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pytest_llmeval.records.message import Message
from pytest_llmeval.records.record import Json, Record
from pytest_llmeval.records.request import Operation, Reply, Role, Usage


class Asked(Record, frozen=True, kw_only=True):
    """What a model was asked: at which `stage` of a sample, as what, with which messages and parameters.

    `draw` numbers equal requests of one sample; `key` is the request's hash.
    """

    stage: str
    role: Role
    model: str
    operation: Operation = "chat"
    parameters: Mapping[str, Json]
    messages: tuple[Message, ...]
    draw: int = 0
    key: str


class ModelCall(Record, frozen=True, kw_only=True, tag_field="event", tag="model_call"):
    """One request and its reply.

    `cached`: no call was made; `age`: of the stored reply, in seconds; `other_run`: another run
    made it.
    """

    asked: Asked
    reply: Reply
    cached: bool = False
    age: float | None = None
    other_run: bool = False
    attempts: int = 1


class FailedCall(Record, frozen=True, kw_only=True, tag_field="event", tag="failed_call"):
    """One request that came to nothing, and what failed."""

    asked: Asked
    error: str


class ToolUse(Record, frozen=True, kw_only=True, tag_field="event", tag="tool_use"):
    """One use of a tool on a sample's behalf, such as a query to a database.

    Attributes:
        stage: stage of the solver.
        tool: what was used, with its version, such as ``python 3.13``.
        input: what the model wrote.
        executed: what ran, where it differs from `input`.
        output: what came back, as text; "" after an error.
        count: number of rows, or other units, that came back.
        error: why it was refused or failed.
        cut: which limit shortened the output.
        seconds: how long it took.
        uncertain: why the tool that `tool` stands in for might have answered otherwise.
    """

    stage: str
    tool: str
    input: str
    executed: str
    output: str = ""
    count: int = 0
    error: str | None = None
    cut: str | None = None
    seconds: float = 0.0
    uncertain: str | None = None


class StageNote(Record, frozen=True, kw_only=True, tag_field="event", tag="note"):
    """Something a stage wants told, such as a drawing that could not be parsed."""

    stage: str
    text: str


Event: TypeAlias = ModelCall | FailedCall | ToolUse | StageNote
"""Whatever happens for a sample."""


class Transcript(Record, frozen=True, kw_only=True):
    """Everything that happened for one sample, in order."""

    events: tuple[Event, ...] = ()

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        """The model calls, of solver and judge."""
        return tuple(event for event in self.events if isinstance(event, ModelCall))

    @property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        """The uses of tools."""
        return tuple(event for event in self.events if isinstance(event, ToolUse))

    @property
    def uncertain(self) -> bool:
        """Whether another tool might have answered one of the uses otherwise."""
        return any(use.uncertain is not None for use in self.tool_uses)

    @property
    def usage(self) -> Usage:
        """Tokens and cost of all calls together."""
        return sum((call.reply.usage for call in self.calls), Usage())

    @property
    def latency(self) -> float:
        """Seconds that the models took, without queueing."""
        return sum(call.reply.latency for call in self.calls)

    @property
    def age(self) -> float | None:
        """Seconds since the oldest reply was made, if other runs made all of them; None otherwise."""
        if not self.calls or not all(call.other_run for call in self.calls):
            return None
        return max(call.age or 0.0 for call in self.calls)
