"""One row and its transcript as a sample of Inspect's logs (`inspect_ai.log.EvalSample`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import nan
from typing import Final

from pytest_llmeval.records import (
    Event,
    FailedCall,
    Json,
    ModelCall,
    Row,
    Score,
    Transcript,
    Usage,
)
from pytest_llmeval.report.exports.inspect_events import InspectEvents, model_name
from pytest_llmeval.report.exports.inspect_messages import usage
from pytest_llmeval.results.rows import last_scores
from pytest_llmeval.roles import SOLVER

OUTCOME: Final = "outcome"
"""The score that tells a row's outcome: C, I, or not a number where nothing was scored."""

_OUTCOMES: Final[Mapping[str, Json]] = {"correct": "C", "incorrect": "I"}

_NO_VERDICT: Final = "scoring_failed"
"""Inspect's reason of a score without a value."""


@dataclass(slots=True)
class UsageByModel:
    """Tokens and cost, summed by model and by role."""

    models: dict[str, Usage] = field(default_factory=dict)
    roles: dict[str, Usage] = field(default_factory=dict)

    def add(self, row: Row, transcript: Transcript | None) -> None:
        """Add the calls of a row; all of it to the model under test without a transcript."""
        if transcript is None:
            self._add(row.model, SOLVER, row.usage)
            return
        for call in transcript.calls:
            self._add(model_name(call.asked, row), call.asked.role, call.reply.usage)

    def to_json(self) -> dict[str, Json]:
        """Return the fields of a sample, or of a log's statistics."""
        return {
            "model_usage": {name: usage(one) for name, one in self.models.items()},
            "role_usage": {name: usage(one) for name, one in self.roles.items()},
        }

    def _add(self, model: str, role: str, found: Usage) -> None:
        self.models[model] = self.models.get(model, Usage()) + found
        self.roles[role] = self.roles.get(role, Usage()) + found


def inspect_sample(row: Row, transcript: Transcript | None, *, started: str) -> dict[str, Json]:
    """Return the sample.

    Its messages are those of the solver's last call, its events all calls, uses of tools and notes.
    Messages that several calls share stand once (``events_data``), and so do pictures.

    Args:
        row: a row that ran.
        transcript: what happened; None if it was not kept.
        started: when the run began, in ISO format; the time of events that have none.
    """
    used = UsageByModel()
    used.add(row, transcript)
    events = () if transcript is None else transcript.events
    written = InspectEvents(row, started)
    told = [written.event(event) for event in events]
    chats = [one for one in _of_solver(events) if one.asked.operation == "chat"]
    last = next((one for one in reversed(chats) if isinstance(one, ModelCall)), None)
    messages = written.messages.conversation(last.asked.messages) if last else []
    if last:
        messages.append(written.messages.reply(last.reply))
    return {
        "id": row.sample,
        "epoch": row.epoch,
        "input": written.messages.conversation(chats[0].asked.messages) if chats else "",
        "target": _target(row),
        "messages": messages,
        "output": written.messages.output(last),
        "scores": inspect_scores(row),
        "metadata": _metadata(row),
        "store": {},
        "events": told,
        **used.to_json(),
        "working_time": row.seconds,
        "error": _error(row.explanation) if row.outcome == "error" else None,
        "attachments": dict(written.messages.attachments),
        "events_data": {"messages": written.pool, "calls": []},
        "turn_count": len(_of_solver(events)),
    }


def inspect_scores(row: Row) -> dict[str, Json]:
    """Return a row's scores by name, that of its outcome first; a missing value is not a number."""
    scores: dict[str, Json] = {}
    if row.outcome != "error":
        value = _OUTCOMES.get(row.outcome, nan)
        scores[OUTCOME] = _score(value, row, row.explanation, {})
    for name, score in last_scores(row).items():
        value = nan if score.value is None else score.value
        place = name if name != OUTCOME else f"{OUTCOME} (score)"
        scores[place] = _score(value, row, score.explanation, _score_metadata(score))
    return scores


def _of_solver(events: Iterable[Event]) -> list[ModelCall | FailedCall]:
    calls = [event for event in events if isinstance(event, ModelCall | FailedCall)]
    return [call for call in calls if call.asked.role == SOLVER and not call.asked.of_scorer]


def _score(value: Json, row: Row, explanation: str, metadata: dict[str, Json]) -> Json:
    undecided = isinstance(value, float) and value != value  # noqa: PLR0124 - not a number
    return {
        "value": value,
        "answer": row.answer,
        "explanation": explanation or None,
        "reason": _NO_VERDICT if undecided else None,
        "metadata": metadata,
    }


def _score_metadata(score: Score) -> dict[str, Json]:
    return {
        "correct": score.correct,
        "scale": score.scale,
        "decides": score.decides,
        "grader": score.grader,
        "details": dict(score.details),
    }


def _metadata(row: Row) -> Json:
    return {
        "test": row.test,
        "outcome": row.outcome,
        "tags": list(row.tags),
        **{name: list(values) for name, values in row.groups.items()},
        "details": dict(row.details),
        "versions": dict(row.versions),
        "recorded": row.recorded,
        "cached": row.cached,
    }


def _target(row: Row) -> Json:
    return list(row.target) if isinstance(row.target, tuple) else row.target_text


def _error(message: str) -> Json:
    return {"message": message, "traceback": "", "traceback_ansi": ""}
