"""Everything that is known of one sample, as JSON for the sample's page."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, assert_never

from pytest_llmeval.records import (
    Asked,
    Display,
    Event,
    FailedCall,
    Image,
    ImagePart,
    Json,
    Message,
    ModelCall,
    Reply,
    Row,
    Score,
    StageNote,
    ToolCall,
    ToolUse,
    Transcript,
)
from pytest_llmeval.report.again import again
from pytest_llmeval.results.task_info import TaskInfo

_EVENT: Final = 500
"""Approximate number of characters of an event besides its texts."""

_LONGEST_ID: Final = 100
"""Length of a tool call's id in the page, in characters."""


@dataclass(slots=True, kw_only=True)
class Evidence:
    """Turns rows of one task, with their transcripts, into JSON.

    `settings` are those of the run, as its run.json has them.

    A text of more than `limit` characters becomes ``{"text": its beginning, "of": its length}``.
    `picture` includes an image in the page and returns its name there. Messages that several calls
    share stand once. `longest` is the length of the longest text of the row that `of` was last
    called with: limits from there on make no difference to it.
    """

    info: TaskInfo
    settings: Mapping[str, Json]
    picture: Callable[[Image], str]
    limit: int
    longest: int = field(default=0, init=False)
    _messages: dict[str, int] = field(default_factory=dict)

    def of(self, row: Row, transcript: Transcript | None) -> dict[str, Json]:
        """Return what is shown of a row; transcript None: it was not kept, or there is no room."""
        self._messages, self.longest = {}, 0
        events = None if transcript is None else [self._event(event) for event in transcript.events]
        return {
            "command": self._text(again(row, self.settings)),
            "answer": None if row.answer is None else self._text(row.answer),
            "target": self._text(row.target_text),
            "formulas": any(self._display(score).formulas for score in row.scores),
            "explanation": self._text(row.explanation),
            "scores": [self._score(score) for score in row.scores],
            "details": self._plain(dict(row.details)),
            "versions": self._plain(dict(row.versions)),
            "groups": {name: list(values) for name, values in row.groups.items()},
            "usage": row.usage.to_json(),
            "stop": row.stop_reason,
            "worker": row.worker,
            "cached": row.cached,
            "age": row.age,
            "recorded": row.recorded,
            "reports": row.reports,
            "engine": row.engine,
            "stands_in_for": row.stands_in_for,
            "messages": [json.loads(message) for message in self._messages],
            "events": events,
        }

    def _text(self, text: str) -> Json:
        return text if self._fits(text) else {"text": text[: self.limit], "of": len(text)}

    def _fits(self, text: str) -> bool:
        self.longest = max(self.longest, len(text))
        return len(text) <= self.limit

    def _plain(self, value: dict[str, Json]) -> Json:
        """Return an object as it is, or as the beginning of its text."""
        text = json.dumps(value)
        return value if self._fits(text) else self._text(text)

    def _score(self, score: Score) -> Json:
        details = dict(score.details)
        trees = details.pop(key, None) if (key := self._display(score).trees) else None
        if not isinstance(trees, dict) or not self._fits(json.dumps(trees)):
            trees = None
        return {
            **score.to_json(),
            "explanation": self._text(score.explanation),
            "details": self._plain(details),
            "trees": trees,
        }

    def _display(self, score: Score) -> Display:
        found = (one.display for one in self.info.scores if one.name == score.name)
        return next(found, Display())

    def _event(self, event: Event) -> Json:
        match event:
            case ModelCall():
                return self._call(event)
            case FailedCall():
                return {
                    **self._asked(event.asked),
                    "event": "failed_call",
                    "error": self._text(event.error),
                }
            case ToolUse():
                return {
                    **event.to_json(),
                    "input": self._text(event.input),
                    "output": self._text(event.output),
                    "error": None if event.error is None else self._text(event.error),
                }
            case StageNote():
                return {**event.to_json(), "text": self._text(event.text)}
            case _:
                assert_never(event)

    def _call(self, call: ModelCall) -> Json:
        return {
            **self._asked(call.asked),
            "event": "model_call",
            "reply": self._reply(call.reply),
            "cached": call.cached,
            "age": call.age,
            "attempts": call.attempts,
        }

    def _asked(self, asked: Asked) -> dict[str, Json]:
        return {
            "stage": asked.stage,
            "role": asked.role,
            "scorer": asked.of_scorer,
            "model": asked.model,
            "parameters": self._plain(dict(asked.parameters)),
            "messages": [self._message(message) for message in asked.messages],
        }

    def _message(self, message: Message) -> int:
        """Return the number of a message in the sample's list."""
        parts: list[Json] = [
            {"image": self.picture(part.image)}
            if isinstance(part, ImagePart)
            else self._text(part.text)
            for part in message.parts
        ]
        calls = [self._tool_call(call) for call in message.tool_calls]
        answered = (message.tool_call_id or "")[:_LONGEST_ID]
        text = json.dumps(
            {"role": message.role, "parts": parts, "tools": calls, "answers": answered}
        )
        return self._messages.setdefault(text, len(self._messages))

    def _reply(self, reply: Reply) -> Json:
        return {
            "text": self._text(reply.text),
            "reasoning": self._text(reply.reasoning),
            "images": [self.picture(image) for image in reply.images],
            "tools": [self._tool_call(call) for call in reply.tool_calls],
            "stop": reply.stop_reason,
            "model": reply.model,
            "usage": reply.usage.to_json(),
            "latency": reply.latency,
        }

    def _tool_call(self, call: ToolCall) -> Json:
        return {"name": call.name, "arguments": self._text(call.arguments)}


def weight(transcript: Transcript) -> int:
    """Return about how many characters a transcript fills."""
    asked = {
        message: len(message.text) for call in transcript.calls for message in call.asked.messages
    }
    replies = sum(len(call.reply.text) + len(call.reply.reasoning) for call in transcript.calls)
    tools = sum(len(use.input) + len(use.output) for use in transcript.tool_uses)
    return sum(asked.values()) + replies + tools + _EVENT * len(transcript.events)
