"""Everything that happened for one sample: requests and replies, failures, graph queries, notes of a solver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from pytest_llmeval.records.message import Json, Message
from pytest_llmeval.records.request import Operation, Reply, Role, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
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

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "stage": self.stage,
            "role": self.role,
            "model": self.model,
            "operation": self.operation,
            "parameters": dict(self.parameters),
            "messages": [message.to_json() for message in self.messages],
            "draw": self.draw,
            "key": self.key,
        }

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> Asked:
        """Return the question that `to_json` wrote, perhaps among other things."""
        return cls(
            stage=str(data["stage"]),
            role=cast("Role", data["role"]),
            model=str(data["model"]),
            operation=cast("Operation", data.get("operation", "chat")),
            parameters=cast("dict[str, Json]", data["parameters"]),
            messages=tuple(
                Message.from_json(item) for item in cast("list[dict[str, Json]]", data["messages"])
            ),
            draw=cast("int", data.get("draw", 0)),
            key=str(data["key"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
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

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form: what was asked stands at the top level."""
        return {
            "event": "model_call",
            **self.asked.to_json(),
            "reply": self.reply.to_json(),
            "cached": self.cached,
            "age": self.age,
            "other_run": self.other_run,
            "attempts": self.attempts,
        }

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> ModelCall:
        """Return the call that `to_json` wrote."""
        return cls(
            asked=Asked.from_json(data),
            reply=Reply.from_json(cast("dict[str, Json]", data["reply"])),
            cached=bool(data["cached"]),
            age=cast("float | None", data["age"]),
            other_run=bool(data.get("other_run")),
            attempts=cast("int", data["attempts"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCall:
    """One request that came to nothing, and what failed."""

    asked: Asked
    error: str

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form: what was asked stands at the top level."""
        return {"event": "failed_call", **self.asked.to_json(), "error": self.error}

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> FailedCall:
        """Return the call that `to_json` wrote."""
        return cls(asked=Asked.from_json(data), error=str(data["error"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphQuery:
    """One query to the graph database: as the model wrote it, as it ran, and what came back as text.

    `error` is why it was refused or failed (then `text` is empty); `cut` tells which limit
    shortened the rows; `uncertain` is why Neo4j's answer may be another one (None: it would be the
    same).
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
