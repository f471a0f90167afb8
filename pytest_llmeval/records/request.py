"""A request to a model, the reply to it, and what it used."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias, cast

from pytest_llmeval.records.message import (
    Image,
    Json,
    Message,
    ToolCall,
    image_from_json,
    image_to_json,
)

Operation: TypeAlias = Literal["chat", "image"]
"""``chat`` asks for a message, ``image`` for a picture made from the message's text and
pictures."""

Role: TypeAlias = Literal["solver", "judge"]
"""Which model of the run is asked: the one under test, or the judge."""

StopReason: TypeAlias = Literal["stop", "length", "refusal", "filter", "tool_calls"]
"""Why a reply ended; all but ``stop`` and ``tool_calls`` are counted as `cut`."""


# Without slots, so that what it is known by is reckoned once: four places of the engine ask.
@dataclass(frozen=True, kw_only=True)
class Request:
    """One request, known by everything that can change its reply.

    `draw` numbers equal requests inside one sample (votes, retries of a judge), `epoch` repetitions
    of the sample; `route` tells apart ways to one model name that the run was told of, such as two
    addresses.
    """

    operation: Operation = "chat"
    role: Role = "solver"
    provider: str
    model: str
    route: str = ""
    parameters: Mapping[str, Json] = field(default_factory=dict)
    messages: tuple[Message, ...]
    epoch: int = 1
    draw: int = 0

    @cached_property
    def content(self) -> dict[str, Json]:
        """What is asked, whoever is asked: the part of the identity that a recording is looked up by."""
        return {
            "operation": self.operation,
            "parameters": dict(self.parameters),
            "messages": [_identity(message) for message in self.messages],
            "epoch": self.epoch,
            "draw": self.draw,
        }

    @cached_property
    def content_key(self) -> str:
        """The hash of `content`."""
        return content_key(self.content)

    @cached_property
    def key(self) -> str:
        """The hash of provider, model, route and `content`: equal keys are one paid call."""
        return _digest(
            [self.provider, self.model, *([self.route] if self.route else []), self.content]
        )


def content_key(content: Json) -> str:
    """Return the hash of a request's `content`, also of one read back from JSON."""
    return _digest(content)


def _identity(message: Message) -> Json:
    """Return a message without the paths of its images: the digest says which picture it is."""
    data = message.to_json()
    for part in cast("list[dict[str, Json]]", data["parts"]):
        if "image" in part:
            part["image"] = cast("dict[str, Json]", part["image"])["digest"]
    return data


def _digest(data: Json) -> str:
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one or more replies, and their cost in US dollars (None: no price known)."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    requests: int = 0
    cost: float | None = None

    @property
    def total_tokens(self) -> int:
        """Input and output together (cached and reasoning tokens are parts of these)."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        """Return the sum; a cost of which one part is unknown is the known part."""
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            requests=self.requests + other.requests,
            cost=sum(costs) if costs else None,
        )

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "input_tokens": self.input_tokens,
            "cached_tokens": self.cached_tokens,
            "output_tokens": self.output_tokens,
            "reasoning_tokens": self.reasoning_tokens,
            "requests": self.requests,
            "cost": self.cost,
        }

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> Usage:
        """Return the usage that `to_json` wrote (missing counts are 0)."""
        numbers = cast("dict[str, int]", data)
        return cls(
            input_tokens=numbers.get("input_tokens", 0),
            cached_tokens=numbers.get("cached_tokens", 0),
            output_tokens=numbers.get("output_tokens", 0),
            reasoning_tokens=numbers.get("reasoning_tokens", 0),
            requests=numbers.get("requests", 0),
            cost=cast("float | None", data.get("cost")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a provider sent back for one request.

    `model` is the version that answered, by its own word; `latency` seconds from sending to the
    last byte; `created` seconds since 1970 (0: not known); `reasoning` what a model shows of its
    thinking, which is no part of its answer.
    """

    text: str
    stop_reason: StopReason = "stop"
    images: tuple[Image, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    latency: float = 0.0
    created: float = 0.0
    reasoning: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form; `reasoning` stands there only if there is some."""
        return {
            "text": self.text,
            "stop_reason": self.stop_reason,
            "images": [image_to_json(image) for image in self.images],
            "tool_calls": [call.to_json() for call in self.tool_calls],
            "usage": self.usage.to_json(),
            "model": self.model,
            "latency": self.latency,
            "created": self.created,
            **({"reasoning": self.reasoning} if self.reasoning else {}),
        }

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> Reply:
        """Return the reply that `to_json` wrote."""
        return cls(
            text=str(data["text"]),
            stop_reason=cast("StopReason", data.get("stop_reason", "stop")),
            images=tuple(
                image_from_json(item)
                for item in cast("list[dict[str, Json]]", data.get("images", []))
            ),
            tool_calls=tuple(
                ToolCall.from_json(item)
                for item in cast("list[dict[str, Json]]", data.get("tool_calls", []))
            ),
            usage=Usage.from_json(cast("dict[str, Json]", data.get("usage", {}))),
            model=str(data.get("model", "")),
            latency=float(cast("float", data.get("latency", 0.0))),
            created=float(cast("float", data.get("created", 0.0))),
            reasoning=str(data.get("reasoning", "")),
        )
