"""The bodies of providers' replies: each is a reply that can be kept, or an error of ours."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from math import isfinite

import msgspec
from fuzz.json_mutation import mutated
from fuzz.target import FOLDER, Target

from pytest_llmeval.errors import ProviderError
from pytest_llmeval.providers.anthropic.replies import read_message
from pytest_llmeval.providers.bedrock.replies import read_converse
from pytest_llmeval.providers.bodies import ServedError, UnreadableReplyError
from pytest_llmeval.providers.google.replies import read_generated
from pytest_llmeval.providers.openai.client import StatusError
from pytest_llmeval.providers.openai.errors import is_filtered, provider_error
from pytest_llmeval.providers.openai.replies import read_chat, read_images
from pytest_llmeval.providers.openai.responses import read_response
from pytest_llmeval.providers.services import Endpoint
from pytest_llmeval.records import Image, Reply
from pytest_llmeval.records.figures import MOST_TOKENS
from pytest_llmeval.records.message import media_type_of

ENDPOINT = Endpoint(model="openai/x", base_url="http://127.0.0.1:1/v1", key_name="OPENAI_API_KEY")
STATUSES = (400, 401, 402, 403, 404, 413, 422, 429, 500, 503)


class Pictures:
    """A store that keeps nothing, and takes what the real one takes."""

    def load(self, path: str) -> Image:
        """Refuse."""
        raise NotImplementedError(path)

    def save(self, data: bytes) -> Image:
        """Return the image; ValueError when it is none."""
        digest = hashlib.sha256(data).hexdigest()
        return Image(digest=digest, media_type=media_type_of(data), path=digest)


PICTURES = Pictures()
READERS: tuple[Callable[[bytes], Reply], ...] = (
    lambda body: read_chat(body, PICTURES),
    lambda body: read_response(body, PICTURES),
    lambda body: read_images(body, PICTURES),
    read_message,
    lambda body: read_generated(body, PICTURES),
    lambda body: read_converse(body, PICTURES),
)


def check(data: bytes) -> None:
    """Read a body by the reader that the first byte names, and as that of a refusal."""
    kind, body = (data[0], data[1:]) if data else (0, b"")
    try:
        reply = READERS[kind % len(READERS)](body)
    except (ServedError, UnreadableReplyError) as error:
        check_error(error)
    else:
        check_reply(reply)
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        said = body.decode("utf-8", "replace")
    said = said["error"] if isinstance(said, dict) and "error" in said else said
    status = STATUSES[kind % len(STATUSES)]
    check_error(StatusError(status, {"retry-after": str(said)[:40]}, said, "/chat/completions"))


def check_reply(reply: Reply) -> None:
    """Check that a reply can be counted, stored and read again."""
    figures = {**msgspec.structs.asdict(reply.usage)}
    assert figures.pop("cost") is None
    counts = figures.values()
    assert all(type(one) is int and 0 <= one <= MOST_TOKENS * 3 for one in counts), figures
    stored = json.dumps(reply.to_json())
    assert Reply.from_json(json.loads(stored)) == reply, "a reply is not read as it was stored"
    for call in reply.tool_calls:
        assert isinstance(call.arguments, str)
    for text in (reply.text, reply.reasoning, reply.model, *reply.image_problems):
        text.encode("utf-8")


def check_error(error: Exception) -> None:
    """Check that a failure is one of ours, with a message that can be printed."""
    is_filtered(error)
    ours = provider_error(error, ENDPOINT)
    assert isinstance(ours, ProviderError)
    str(ours).encode("utf-8")
    assert len(str(ours)) < 2_000, "a message is as long as a body"
    assert ours.retry_after is None or (isfinite(ours.retry_after) and ours.retry_after >= 0)


def seeds() -> Iterator[bytes]:
    """Yield a body for each reader."""
    for file in sorted((FOLDER / "seeds" / "replies").glob("*.json")):
        number = int(file.name.partition("-")[0])
        yield bytes([number]) + file.read_bytes()


TARGET = Target(
    check=check,
    seeds=seeds,
    mutate=mutated,
    words=(
        *('"type"', '"text"', '"content"', '"message"', '"choices"', '"finish_reason"', '"usage"'),
        *('"output"', '"status"', '"error"', '"code"', '"tool_calls"', '"function"', '"arguments"'),
        *('"candidates"', '"finishReason"', '"parts"', '"stopReason"', '"image"', '"source"'),
        *('"thinking"', '"stop_reason"', '"b64_json"', '"image_url"', '"prompt_tokens"'),
        *("[]", "{}", "null", "true", "1e400", "NaN", "-5", '"\\ud800"', "10.0"),
    ),
    longest=2_000,
)
