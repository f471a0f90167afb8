"""What a solver made of a sample: the final text, the answer in it, and how it came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

from pytest_llmeval.records.message import Json, Message
from pytest_llmeval.records.request import Operation, Reply, Role, StopReason, Usage
from pytest_llmeval.records.score import TAXONOMY, ErrorLabel


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One request and its reply.

    `draw` numbers equal requests of one sample; `cached`: no call was made; `age`: of the stored reply, in seconds;
    `other_run`: another run made it.
    """

    stage: str
    role: Role
    model: str
    operation: Operation = "chat"
    parameters: Mapping[str, Json]
    messages: tuple[Message, ...]
    draw: int = 0
    reply: Reply
    key: str
    cached: bool = False
    age: float | None = None
    other_run: bool = False
    attempts: int = 1

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "event": "model_call",
            "stage": self.stage,
            "role": self.role,
            "model": self.model,
            "operation": self.operation,
            "parameters": dict(self.parameters),
            "messages": [message.to_json() for message in self.messages],
            "draw": self.draw,
            "reply": self.reply.to_json(),
            "key": self.key,
            "cached": self.cached,
            "age": self.age,
            "other_run": self.other_run,
            "attempts": self.attempts,
        }

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> ModelCall:
        """Return the call that `to_json` wrote."""
        return cls(
            stage=str(data["stage"]),
            role=cast("Role", data["role"]),
            model=str(data["model"]),
            operation=cast("Operation", data.get("operation", "chat")),
            parameters=cast("dict[str, Json]", data["parameters"]),
            messages=tuple(Message.from_json(item) for item in cast("list[dict[str, Json]]", data["messages"])),
            draw=cast("int", data.get("draw", 0)),
            reply=Reply.from_json(cast("dict[str, Json]", data["reply"])),
            key=str(data["key"]),
            cached=bool(data["cached"]),
            age=cast("float | None", data["age"]),
            other_run=bool(data.get("other_run")),
            attempts=cast("int", data["attempts"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCall:
    """One request that came to nothing, and what failed."""

    stage: str
    role: Role
    model: str
    operation: Operation
    parameters: Mapping[str, Json]
    messages: tuple[Message, ...]
    draw: int
    key: str
    error: str

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "event": "failed_call",
            "stage": self.stage,
            "role": self.role,
            "model": self.model,
            "operation": self.operation,
            "parameters": dict(self.parameters),
            "messages": [message.to_json() for message in self.messages],
            "draw": self.draw,
            "key": self.key,
            "error": self.error,
        }

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> FailedCall:
        """Return the call that `to_json` wrote."""
        return cls(
            stage=str(data["stage"]),
            role=cast("Role", data["role"]),
            model=str(data["model"]),
            operation=cast("Operation", data["operation"]),
            parameters=cast("dict[str, Json]", data["parameters"]),
            messages=tuple(Message.from_json(item) for item in cast("list[dict[str, Json]]", data["messages"])),
            draw=cast("int", data["draw"]),
            key=str(data["key"]),
            error=str(data["error"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphQuery:
    """One query to the graph database: as the model wrote it, as it ran, and what came back as text.

    `error` is why it was refused or failed (then `text` is empty); `cut` tells which limit shortened the rows;
    `uncertain` is why Neo4j's answer may be another one (None: it would be the same).
    """

    stage: str
    cypher: str
    executed: str
    engine: str
    text: str = ""
    row_count: int = 0
    error: str | None = None
    cut: str | None = None
    seconds: float = 0.0
    uncertain: str | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "event": "graph_query",
            "stage": self.stage,
            "cypher": self.cypher,
            "executed": self.executed,
            "engine": self.engine,
            "text": self.text,
            "row_count": self.row_count,
            "error": self.error,
            "cut": self.cut,
            "seconds": self.seconds,
            "uncertain": self.uncertain,
        }

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> GraphQuery:
        """Return the query that `to_json` wrote."""
        return cls(
            stage=str(data["stage"]),
            cypher=str(data["cypher"]),
            executed=str(data["executed"]),
            engine=str(data["engine"]),
            text=str(data["text"]),
            row_count=cast("int", data["row_count"]),
            error=cast("str | None", data["error"]),
            cut=cast("str | None", data["cut"]),
            seconds=cast("float", data["seconds"]),
            uncertain=cast("str | None", data.get("uncertain")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StageNote:
    """Something a stage wants told, such as a drawing that could not be parsed."""

    stage: str
    text: str

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {"event": "note", "stage": self.stage, "text": self.text}

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> StageNote:
        """Return the note that `to_json` wrote."""
        return cls(stage=str(data["stage"]), text=str(data["text"]))


Event: TypeAlias = ModelCall | FailedCall | GraphQuery | StageNote
"""Whatever happens for a sample."""


def _event_from_json(data: dict[str, Json]) -> Event:
    match data["event"]:
        case "model_call":
            return ModelCall.from_json(data)
        case "failed_call":
            return FailedCall.from_json(data)
        case "graph_query":
            return GraphQuery.from_json(data)
        case _:
            return StageNote.from_json(data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """Everything that happened for one sample, in order."""

    events: tuple[Event, ...] = ()

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        """The model calls, of solver and judge."""
        return tuple(event for event in self.events if isinstance(event, ModelCall))

    @property
    def queries(self) -> tuple[GraphQuery, ...]:
        """The graph queries."""
        return tuple(event for event in self.events if isinstance(event, GraphQuery))

    @property
    def uncertain(self) -> bool:
        """Whether Neo4j might have answered one of the graph queries otherwise."""
        return any(query.uncertain is not None for query in self.queries)

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

    def to_json(self) -> list[Json]:
        """Return the JSON form."""
        return [event.to_json() for event in self.events]

    @classmethod
    def from_json(cls, data: list[dict[str, Json]]) -> Transcript:
        """Return the transcript that `to_json` wrote."""
        return cls(events=tuple(_event_from_json(event) for event in data))


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A solver's result. `answer` is None when the text holds none in the demanded form.

    `details` are the solver's own findings, such as ``{"valid_cypher": true}``; they end in the row.
    """

    text: str
    stop_reason: StopReason = "stop"
    answer: str | None = None
    transcript: Transcript = field(default_factory=Transcript)
    details: Mapping[str, Json] = field(default_factory=dict)

    def labelled(self, label: ErrorLabel) -> Completion:
        """Return the completion with the kind of its error among the details."""
        return replace(self, details={**self.details, TAXONOMY: label.to_json()})

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "text": self.text,
            "stop_reason": self.stop_reason,
            "answer": self.answer,
            "transcript": self.transcript.to_json(),
            "details": dict(self.details),
        }

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> Completion:
        """Return the completion that `to_json` wrote."""
        return cls(
            text=str(data["text"]),
            stop_reason=cast("StopReason", data["stop_reason"]),
            answer=cast("str | None", data["answer"]),
            transcript=Transcript.from_json(cast("list[dict[str, Json]]", data["transcript"])),
            details=cast("dict[str, Json]", data["details"]),
        )
