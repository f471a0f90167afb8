"""Short forms of what the engine's tests pass about."""

from __future__ import annotations

from typing import Any

from pytest_llmeval.engine.replies import StoredReply
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.records import Image, ImagePart, Message, Reply, Request, TextPart, Usage

MODEL = ModelSpec(kind="openai", name="m", label="openai/m")


def request(
    prompt: str, *, image: Image | None = None, draw: int = 0, epoch: int = 1, **parameters: Any
) -> Request:
    parts: tuple[TextPart | ImagePart, ...] = (
        TextPart(text=prompt),
        *([ImagePart(image=image)] if image else []),
    )
    message = Message(role="user", parts=parts)
    return Request(
        provider="openai",
        model="m",
        messages=(message,),
        parameters=parameters,
        draw=draw,
        epoch=epoch,
    )


def stored(asked: Request, text: str = "x", **fields: Any) -> StoredReply:
    return StoredReply.of(asked, reply(text, **fields))


def reply(text: str, **fields: Any) -> Reply:
    return Reply(
        text=text, usage=Usage(input_tokens=10, output_tokens=5, requests=1), latency=0.5, **fields
    )
