"""Models behind OpenAI's chat completions, Responses and image APIs, at OpenAI or at any server that speaks them."""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal, Protocol, get_args, get_origin

import aiohttp
import httpx2
from openai import APIStatusError, AsyncOpenAI, DefaultAioHttpClient, OpenAIError
from openai.types.shared import ChatModel, ResponsesModel

from pytest_llmeval.engine.ports import ImageStore, ProviderSetup
from pytest_llmeval.providers.endpoints import Endpoint, openai_endpoint
from pytest_llmeval.providers.openai_errors import provider_error
from pytest_llmeval.providers.openai_replies import (
    ServedError,
    UnreadableReplyError,
    read_chat,
    read_images,
)
from pytest_llmeval.providers.openai_requests import chat_body, image_body
from pytest_llmeval.providers.openai_responses import read_response, response_body
from pytest_llmeval.records import Json, Reply, Request

CONNECT_TIMEOUT: Final = 10.0
"""Seconds for making a connection: who has not answered by then will not."""

_CONNECTIONS: Final = 10_000
"""More than any concurrency: how much is in flight is the limiter's business."""

_WHOLE: Final = 2**20
"""Bytes of a body that is sent in one piece; aiohttp warns of larger ones, which pictures and whole
scenes make."""

_PLACEHOLDER_KEY: Final = "none"

_SCHEMA: Final = "response_format"
_SCHEMA_REFUSED: Final = re.compile(r"response_format|text\.format|json_schema", re.IGNORECASE)
_REFUSALS: Final = frozenset({400, 422})


class AsyncClosable(Protocol):
    """What holds connections of its own."""

    async def close(self) -> None:
        """Let go of them."""
        ...


@dataclass(frozen=True, slots=True)
class Api:
    """One way of asking for a message: its path, what is sent, and how the reply is read."""

    path: str
    body: Callable[[Request], dict[str, Json]]
    read: Callable[[bytes, ImageStore], Reply]


CHAT: Final = Api("/chat/completions", partial(chat_body, completion_tokens=False), read_chat)
NEW_CHAT: Final = Api("/chat/completions", partial(chat_body, completion_tokens=True), read_chat)
"""With ``max_completion_tokens`` for ``max_tokens``: newer models of OpenAI refuse the old name,
many compatible servers (older vLLM, Ollama) ignore the new one."""
RESPONSES: Final = Api("/responses", response_body, read_response)


class OpenAIProvider:
    """One model at one endpoint.

    It sends each request once; retries, time-outs and limits are the gateway's.

    A judge's JSON schema is sent where the endpoint takes it: after a refusal that names it, judges
    are asked without, that question first. The schema is a help; the judge's rules demand the same
    JSON, and nothing else is read.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        endpoint: Endpoint,
        *,
        image_store: ImageStore,
        api: Api,
        credential: AsyncClosable | None = None,
    ) -> None:
        """Take the client and the credential it signs in with, which close with the provider, and the picture store."""
        self._client, self._endpoint, self._credential = client, endpoint, credential
        self._image_store, self._api = image_store, api
        self._schema_refused = False

    def __repr__(self) -> str:
        """Return the model and its address."""
        return f"OpenAIProvider({self._endpoint.model} at {self._endpoint.base_url})"

    async def send(self, request: Request) -> Reply:
        """Send one request once and return the reply; ProviderError tells what failed and how far that reaches."""
        start = time.perf_counter()
        try:
            reply = await (
                self._answer(request) if request.operation == "chat" else self._draw(request)
            )
        except (OpenAIError, aiohttp.ClientError, ServedError, UnreadableReplyError) as error:
            # Without the chain: its frames hold the key, and the message tells all.
            raise provider_error(error, self._endpoint) from None
        latency = time.perf_counter() - start
        return replace(self._scrubbed(reply), latency=latency, created=time.time())

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()
        if self._credential is not None:
            await self._credential.close()

    async def _answer(self, request: Request) -> Reply:
        if request.role != "judge" or _SCHEMA not in request.parameters:
            return await self._chat(request)
        parameters = {name: value for name, value in request.parameters.items() if name != _SCHEMA}
        plain = replace(request, parameters=parameters)
        if self._schema_refused:
            return await self._chat(plain)
        try:
            return await self._chat(request)
        except APIStatusError as error:
            if error.status_code not in _REFUSALS or not _SCHEMA_REFUSED.search(str(error)):
                raise
        reply = await self._chat(plain)
        self._schema_refused = True
        return reply

    async def _chat(self, request: Request) -> Reply:
        data = json.dumps(self._api.body(request), allow_nan=False, separators=(",", ":")).encode()
        # The raw response keeps what the client has no classes for, and building those is a third
        # of its CPU time.
        response = await self._client.post(
            self._api.path,
            cast_to=httpx2.Response,
            content=data if len(data) <= _WHOLE else _pieces(data),
            options={
                "headers": {"Content-Type": "application/json", "Content-Length": str(len(data))}
            },
        )
        return self._api.read(response.content, self._image_store)

    def _scrubbed(self, reply: Reply) -> Reply:
        """Return the reply without our key, which a server may have repeated in it."""
        scrub = self._endpoint.scrub
        calls = tuple(
            replace(call, name=scrub(call.name), arguments=scrub(call.arguments))
            for call in reply.tool_calls
        )
        return replace(
            reply,
            text=scrub(reply.text),
            reasoning=scrub(reply.reasoning),
            model=scrub(reply.model),
            tool_calls=calls,
        )

    async def _draw(self, request: Request) -> Reply:
        fields, images = image_body(request)
        if not images:
            response = await self._client.post(
                "/images/generations", cast_to=httpx2.Response, body=fields
            )
            return read_images(response.content, self._image_store)
        name = "image" if len(images) == 1 else "image[]"
        files = [
            (name, (f"{image.digest[:16]}.{image.media_type[6:]}", image.read(), image.media_type))
            for image in images
        ]
        response = await self._client.post(
            "/images/edits",
            cast_to=httpx2.Response,
            body=fields,
            files=files,
            options={"headers": {"Content-Type": "multipart/form-data"}},
        )
        return read_images(response.content, self._image_store)


async def _pieces(data: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(data), _WHOLE):
        yield data[start : start + _WHOLE]


def open_openai(setup: ProviderSetup) -> OpenAIProvider:
    """Return the provider of an ``openai/`` model. UsageError when its key or address is wrong.

    It speaks chat completions, or the Responses API where the spec says ``api=responses`` and, at
    OpenAI's own address, where the model is served by nothing else.
    """
    endpoint = openai_endpoint(setup.model, setup.options, setup.environ)
    client = AsyncOpenAI(
        api_key=endpoint.key or _PLACEHOLDER_KEY,
        base_url=endpoint.base_url,
        max_retries=0,
        http_client=http_client(setup.timeout),
    )
    only_responses = endpoint.at_openai and setup.model in _responses_only()
    api = setup.options.get("api", "responses" if only_responses else "chat")
    return OpenAIProvider(
        client,
        endpoint,
        image_store=setup.image_store,
        api=RESPONSES if api == "responses" else NEW_CHAT if endpoint.at_openai else CHAT,
    )


def _responses_only() -> frozenset[str]:
    """Return the models that OpenAI serves by the Responses API alone, as its client lists them."""
    listed = (names for names in get_args(ResponsesModel) if get_origin(names) is Literal)
    return frozenset(name for names in listed for name in get_args(names)) - set(
        get_args(ChatModel)
    )


def http_client(timeout: float) -> httpx2.AsyncClient:
    """Return a client over aiohttp: 0.9 ms of CPU time a request with 200 in flight, the default transport 2.4."""
    return DefaultAioHttpClient(
        timeout=httpx2.Timeout(timeout, connect=min(timeout, CONNECT_TIMEOUT)),
        limits=httpx2.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS),
    )
