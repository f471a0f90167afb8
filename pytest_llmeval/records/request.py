"""A request to a model, its reply, and the tokens used."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Literal, TypeAlias

from pytest_llmeval.records.message import Image, Message, TextPart, ToolCall
from pytest_llmeval.records.record import Json, Record
from pytest_llmeval.roles import SOLVER

Operation: TypeAlias = Literal["chat", "image"]
"""What is requested: ``chat`` a message, ``image`` a picture made from a message's text and
pictures."""

Role: TypeAlias = str
"""As what a model is asked: ``solver`` (under test), ``judge``, or another role of the run."""

StopReason: TypeAlias = Literal["stop", "length", "refusal", "filter", "tool_calls"]
"""Why a reply ended; all but ``stop`` and ``tool_calls`` are counted as `cut`."""


# `dict=True` gives cached_property a place: the engine reads the keys of a request several times.
class Request(Record, frozen=True, kw_only=True, dict=True, gc=True):
    """One request, with everything that can change its reply.

    Attributes:
        operation: what is requested.
        role: as what the model is asked; not part of the identity.
        provider: name of the provider, such as ``openai``.
        model: name of the model at the provider.
        route: distinguishes several addresses of one model name within a run; "" for one.
        parameters: of the request, such as ``temperature``.
        messages: the conversation.
        epoch: number of the sample's repetition, from 1.
        draw: number, from 0, of an otherwise equal request of one sample, such as a judge's vote.
    """

    operation: Operation = "chat"
    role: Role = SOLVER
    provider: str
    model: str
    route: str = ""
    parameters: Mapping[str, Json] = {}
    messages: tuple[Message, ...]
    epoch: int = 1
    draw: int = 0

    @property
    def has_pictures(self) -> bool:
        """Whether a message is requested about pictures."""
        return self.operation == "chat" and any(message.images for message in self.messages)

    @cached_property
    def content(self) -> dict[str, Json]:
        """What is requested, without provider, model and route; recordings are looked up by it."""
        return {
            "operation": self.operation,
            "parameters": dict(self.parameters),
            "messages": [_identity(message) for message in self.messages],
            "epoch": self.epoch,
            "draw": self.draw,
        }

    @cached_property
    def content_key(self) -> str:
        """The sha256 of `content`, in hex."""
        return _sha256(self._content_text)

    @cached_property
    def key(self) -> str:
        """The sha256 of provider, model, route and `content`, in hex: equal keys are one call."""
        return _key(self.provider, self.model, self.route, self._content_text)

    @cached_property
    def _content_text(self) -> str:
        return _text(self.content)


def content_key(content: Json) -> str:
    """Return `Request.content_key` of a request with this `content`, also of one read from JSON."""
    return _sha256(_text(content))


def request_key(provider: str, model: str, route: str, content: Json) -> str:
    """Return `Request.key` of a request with this `content`, also of one read from JSON."""
    return _key(provider, model, route, _text(content))


def _key(provider: str, model: str, route: str, content: str) -> str:
    """Return the sha256 of the JSON array of the model's parts and the `content`'s JSON."""
    parts = [_text(part) for part in (provider, model, *([route] if route else []))]
    return _sha256(f"[{','.join([*parts, content])}]")


def _identity(message: Message) -> Json:
    """Return the form of a message that is hashed, with the digests of its images.

    Stored replies are looked up by this hash, so the form must stay when the records change.
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


def _text(data: Json) -> str:
    return json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Usage(Record, frozen=True, kw_only=True):
    """Tokens and cost of one or more replies.

    Attributes:
        input_tokens: tokens of the prompts, cached ones included.
        cached_tokens: those of `input_tokens` that the provider had cached.
        cache_write_tokens: those of `input_tokens` that it cached for later requests, where that
            has a price of its own.
        output_tokens: tokens of the replies, reasoning included.
        reasoning_tokens: those of `output_tokens` that are reasoning.
        requests: number of requests.
        batched: those of `requests` that were answered in batches, at the price of batches.
        cost: US dollars; None when no price is known.
    """

    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    requests: int = 0
    batched: int = 0
    cost: float | None = None

    @property
    def total_tokens(self) -> int:
        """Input and output tokens together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        """Return the sum; an unknown cost counts as 0 unless both are unknown."""
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            requests=self.requests + other.requests,
            batched=self.batched + other.batched,
            cost=sum(costs) if costs else None,
        )


class Reply(Record, frozen=True, kw_only=True):
    """A provider's reply to one request.

    Attributes:
        text: the message's text; "" for a picture or tool calls alone.
        stop_reason: why the reply ended; ``length`` also if it is all reasoning.
        images: pictures in the reply.
        image_problems: why further pictures in it could not be kept, one text for each.
        tool_calls: calls of tools that the model requests.
        usage: tokens and cost.
        model: version of the model, as the provider reports it.
        latency: seconds from sending the request to the last byte of the reply.
        created: when the reply arrived, in seconds since 1970; 0 when not known.
        reasoning: the shown part of the model's reasoning. As a provider or a store gives a reply,
            `text` may hold some too, between marks; solvers and scorers get it set apart.
        continuation: what the provider wants back, unchanged, when the conversation goes on from
            this reply (`Message.continuation`); "" for nothing.
    """

    text: str
    stop_reason: StopReason = "stop"
    images: tuple[Image, ...] = ()
    image_problems: tuple[str, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    model: str = ""
    latency: float = 0.0
    created: float = 0.0
    reasoning: str = ""
    continuation: str = ""
