"""A request to a model, the reply to it, and what it used."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Literal, TypeAlias

from pytest_llmeval.records.message import Image, Message, TextPart, ToolCall
from pytest_llmeval.records.record import Json, Record

Operation: TypeAlias = Literal["chat", "image"]
"""``chat`` asks for a message, ``image`` for a picture made from the message's text and
pictures."""

Role: TypeAlias = Literal["solver", "judge"]
"""Which model of the run is asked: the one under test, or the judge."""

StopReason: TypeAlias = Literal["stop", "length", "refusal", "filter", "tool_calls"]
"""Why a reply ended; all but ``stop`` and ``tool_calls`` are counted as `cut`."""


# With a dict, so that its keys are computed once: four places of the engine ask for them.
class Request(Record, frozen=True, kw_only=True, dict=True):
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
    parameters: Mapping[str, Json] = {}
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
        return request_key(self.provider, self.model, self.route, self.content)


def content_key(content: Json) -> str:
    """Return the hash of a request's `content`, also of one read back from JSON."""
    return _digest(content)


def request_key(provider: str, model: str, route: str, content: Json) -> str:
    """Return the `Request.key` of a request with this `content`, also of one read from JSON."""
    return _digest([provider, model, *([route] if route else []), content])


def _identity(message: Message) -> Json:
    """Return what a message is known by, of its images their digests.

    Every stored reply is looked up by this form, so it stays as it is whatever records look like.
    """
    identity: dict[str, Json] = {
        "role": message.role,
        "parts": [
            {"text": part.text} if isinstance(part, TextPart) else {"image": part.image.digest}
            for part in message.parts
        ],
    }
    if message.tool_calls:
        identity["tool_calls"] = [call.to_json() for call in message.tool_calls]
    if message.tool_call_id is not None:
        identity["tool_call_id"] = message.tool_call_id
    return identity


def _digest(data: Json) -> str:
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Usage(Record, frozen=True, kw_only=True):
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


class Reply(Record, frozen=True, kw_only=True):
    """What a provider sent back for one request.

    `model` is the version that answered, by its own word; `latency` seconds from sending to the
    last byte; `created` seconds since 1970 (0: not known); `reasoning` what a model shows of its
    thinking, which is no part of its answer.
    """

    text: str
    stop_reason: StopReason = "stop"
    images: tuple[Image, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    model: str = ""
    latency: float = 0.0
    created: float = 0.0
    reasoning: str = ""
