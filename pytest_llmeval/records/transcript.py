"""The transcript of one sample: model calls, uses of tools, notes of its solver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from pytest_llmeval.errors import FailedAttempt
from pytest_llmeval.records.message import Message
from pytest_llmeval.records.record import Json, Record
from pytest_llmeval.records.request import Operation, Reply, Role, Usage
from pytest_llmeval.roles import SOLVER


class Asked(Record, frozen=True, kw_only=True):
    """The request of a model call, as the transcript keeps it.

    Attributes:
        stage: step of the solver or scorer, such as ``generate`` or ``judge``.
        role: as what the model was asked, such as ``solver``, under test, or ``judge``.
        scorer: name of the scorer that asked; "" for the solver, or the test body. None in
            transcripts of earlier versions, in which scorers asked judges and nobody else did.
        model: the model's spec.
        operation, parameters, messages, draw: see `Request`.
        key: `Request.key`.
    """

    stage: str
    role: Role
    scorer: str | None = None
    model: str
    operation: Operation = "chat"
    parameters: Mapping[str, Json]
    messages: tuple[Message, ...]
    draw: int = 0
    key: str

    @property
    def of_scorer(self) -> bool:
        """Whether a scorer asked."""
        return self.role != SOLVER if self.scorer is None else bool(self.scorer)


class ModelCall(Record, frozen=True, kw_only=True, tag_field="event", tag="model_call"):
    """One request and its reply.

    Attributes:
        asked: the request.
        reply: the reply.
        cached: whether the reply came from a store, without a call.
        age: age of a stored reply in seconds; None for a new one.
        other_run: whether another run made the call.
        attempts: number of times the request was sent, retries included.
        failures: those of them that failed.
        at: when the reply was there, stored or new, in seconds since 1970; 0 where not known.
    """

    asked: Asked
    reply: Reply
    cached: bool = False
    age: float | None = None
    other_run: bool = False
    attempts: int = 1
    failures: tuple[FailedAttempt, ...] = ()
    at: float = 0.0


class FailedCall(Record, frozen=True, kw_only=True, tag_field="event", tag="failed_call"):
    """One request without a reply, and the error that it ended with.

    Attributes:
        asked: the request.
        error: the message.
        cause: the error's cause; see `ProviderError`.
        failures: the attempts; () for a request that was not sent.
        at: when it was given up, in seconds since 1970; 0 where not known.
    """

    asked: Asked
    error: str
    cause: str = ""
    failures: tuple[FailedAttempt, ...] = ()
    at: float = 0.0


class ToolUse(Record, frozen=True, kw_only=True, tag_field="event", tag="tool_use"):
    """One use of a tool on a sample's behalf, such as a query to a database.

    Attributes:
        stage: stage of the solver.
        tool: name of the tool, with its version, such as ``python 3.13``.
        input: text that the model wrote.
        output: the result as text; "" after an error.
        count: number of rows, or other units, in the result.
        error: why the use was refused or failed; None if it did not.
        cut: name of the limit that shortened the output; None if none did.
        seconds: duration.
        engine: what answered, where one tool has several engines: a short name without version;
            "" where there is no choice.
        stands_in_for: name of what the tool is made for, if `engine` answered in its place and may
            give other results; "" if it did not.
        at: when it ended, in seconds since 1970; 0 where not known.
    """

    stage: str
    tool: str
    input: str
    output: str = ""
    count: int = 0
    error: str | None = None
    cut: str | None = None
    seconds: float = 0.0
    engine: str = ""
    stands_in_for: str = ""
    at: float = 0.0


class StageNote(Record, frozen=True, kw_only=True, tag_field="event", tag="note"):
    """A remark of a solver's stage, such as that a reply could not be parsed."""

    stage: str
    text: str


Event: TypeAlias = ModelCall | FailedCall | ToolUse | StageNote
"""One entry of a transcript; its JSON has a tag ``event``."""


class Transcript(Record, frozen=True, kw_only=True):
    """All events of one sample, in order."""

    events: tuple[Event, ...] = ()

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        """The calls of models that brought a reply, of solver and scorers."""
        return tuple(event for event in self.events if isinstance(event, ModelCall))

    @property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        """The uses of tools."""
        return tuple(event for event in self.events if isinstance(event, ToolUse))

    @property
    def engine(self) -> str:
        """The engines that answered uses of tools, joined by commas; "" if none is named."""
        return _joined(use.engine for use in self.tool_uses)

    @property
    def stands_in_for(self) -> str:
        """What engines stood in for, joined by commas; "" if none did."""
        return _joined(use.stands_in_for for use in self.tool_uses)

    @property
    def partners(self) -> tuple[Role, ...]:
        """The roles in which the solver asked models, beside the one under test; sorted."""
        asked = (event.asked for event in self.events if isinstance(event, ModelCall | FailedCall))
        return tuple(sorted({one.role for one in asked if not one.of_scorer} - {SOLVER}))

    @property
    def usage(self) -> Usage:
        """Tokens and cost of all calls, summed."""
        return sum((call.reply.usage for call in self.calls), Usage())

    @property
    def latency(self) -> float:
        """Summed latency of all calls in seconds, without queueing."""
        return sum(call.reply.latency for call in self.calls)

    @property
    def age(self) -> float | None:
        """Age of the oldest reply in seconds; None unless other runs made all replies."""
        if not self.calls or not all(call.other_run for call in self.calls):
            return None
        return max(call.age or 0.0 for call in self.calls)


def _joined(names: Iterable[str]) -> str:
    """Return the names that are not empty, each once, in alphabetical order."""
    return ", ".join(sorted({name for name in names if name}))
