"""What happened for a sample as events of Inspect's logs (`inspect_ai.event`)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import assert_never

from pytest_llmeval.records import (
    Asked,
    Event,
    FailedCall,
    Json,
    Message,
    ModelCall,
    Row,
    StageNote,
    ToolUse,
)
from pytest_llmeval.report.exports.inspect_messages import InspectMessages, arguments_of
from pytest_llmeval.roles import SOLVER


def model_name(asked: Asked, row: Row) -> str:
    """Return what the asked model is called: the one under test by its label in the run."""
    return row.model if asked.role == SOLVER else asked.model


class InspectEvents:
    """Turns a sample's events into Inspect's.

    Attributes:
        messages: turns messages; gathers the sample's pictures.
        pool: the messages that events share, each once.
    """

    def __init__(self, row: Row, started: str) -> None:
        """Begin a sample.

        Args:
            row: its row.
            started: when the run began, in ISO format; the time of events that have none.
        """
        self.messages = InspectMessages()
        self.pool: list[Json] = []
        self._row = row
        self._started = started
        self._places: dict[str, int] = {}
        self._tools = 0

    def event(self, event: Event) -> Json:
        """Return an event: of a model, of a tool, or an information."""
        match event:
            case ModelCall():
                return self._call(event.asked, event, None) | {
                    "cache": "read" if event.cached else None,
                    "retries": event.attempts - 1,
                    "timestamp": self._time(event.reply.created),
                }
            case FailedCall():
                return self._call(event.asked, None, event.error)
            case ToolUse():
                return self._use(event)
            case StageNote():
                return self._at_start("info", {"source": event.stage, "data": event.text})
            case _:
                assert_never(event)

    def _call(self, asked: Asked, call: ModelCall | None, error: str | None) -> dict[str, Json]:
        facts: dict[str, Json] = {
            "model": model_name(asked, self._row),
            "role": None if asked.role == SOLVER else asked.role,
            "input": [],
            "input_refs": self._references(asked.messages),
            "tools": [],
            "tool_choice": "auto",
            "config": {},
            "output": self.messages.output(call),
            "error": error,
            "metadata": {"stage": asked.stage, "parameters": dict(asked.parameters)},
        }
        return self._at_start("model", facts)

    def _use(self, use: ToolUse) -> Json:
        self._tools += 1
        arguments, problem = arguments_of(use.input)
        error: Json = None if use.error is None else {"type": "unknown", "message": use.error}
        facts: dict[str, Json] = {
            "id": f"use-{self._tools}",
            "function": use.tool,
            "arguments": {"input": use.input} if problem else arguments,
            "result": use.output,
            "error": error,
            "working_time": use.seconds,
            "metadata": {"stage": use.stage, "cut": use.cut, "engine": use.engine},
        }
        return self._at_start("tool", facts)

    def _at_start(self, kind: str, facts: dict[str, Json]) -> dict[str, Json]:
        return {"event": kind, "timestamp": self._started, "working_start": 0.0, **facts}

    def _time(self, moment: float) -> str:
        return datetime.fromtimestamp(moment, UTC).isoformat() if moment else self._started

    def _references(self, messages: Iterable[Message]) -> Json:
        """Return the places of messages in the pool, as ranges of one message each."""
        places: list[Json] = []
        for message in self.messages.conversation(tuple(messages)):
            text = json.dumps(message)
            if text not in self._places:
                self._places[text] = len(self.pool)
                self.pool.append(message)
            place = self._places[text]
            places.append([place, place + 1])
        return places
