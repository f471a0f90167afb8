"""Models behind OpenAI's chat completions, Responses and image APIs, at any server, by the SDK."""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

import aiohttp
import httpx2
from msgspec.structs import replace
from openai import APIStatusError, AsyncOpenAI, OpenAIError

from pytest_llmeval.engine.ports import ImageStore
from pytest_llmeval.providers.content_filters import FILTERED, is_filtered
from pytest_llmeval.providers.endpoints import Endpoint
from pytest_llmeval.providers.openai_errors import provider_error
from pytest_llmeval.providers.openai_json import ServedError, UnreadableReplyError
from pytest_llmeval.providers.openai_replies import read_chat, read_images
from pytest_llmeval.providers.openai_requests import chat_body, image_body
from pytest_llmeval.providers.openai_responses import read_response, response_body
from pytest_llmeval.records import Json, Reply, Request
from pytest_llmeval.roles import SOLVER

_WHOLE: Final = 2**20
"""Bytes of a body that is sent in one piece, at most; aiohttp warns of larger ones, which pictures
make."""

_SCHEMA: Final = "response_format"
_SCHEMA_REFUSED: Final = re.compile(r"response_format|text\.format|json_schema", re.IGNORECASE)
_REFUSALS: Final = frozenset({400, 422})


class AsyncClosable(Protocol):
    """An object that holds connections, such as a credential."""

    async def close(self) -> None:
        """Close them."""
        ...


@dataclass(frozen=True, slots=True)
class Api:
    """One API for messages: its path, how the body is written, how the reply is read."""

    path: str
    body: Callable[[Request], dict[str, Json]]
    read: Callable[[bytes, ImageStore], Reply]


CHAT: Final = Api("/chat/completions", partial(chat_body, completion_tokens=False), read_chat)
NEW_CHAT: Final = Api("/chat/completions", partial(chat_body, completion_tokens=True), read_chat)
"""With ``max_completion_tokens`` for ``max_tokens``: newer models of OpenAI refuse the old name,
many compatible servers (older vLLM, Ollama) ignore the new one."""
RESPONSES: Final = Api("/responses", response_body, read_response)


class OpenAIProvider:
    """One model at one endpoint, to which each request is sent once.

    A judge's request has a JSON schema for the verdict. If the endpoint refuses the schema, that
    request and all later ones of judges, and of other roles than the model under test, are sent
    without it: the judge's prompt demands the same JSON, and replies are read the same way.
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
        """Send by a client.

        Args:
            client: the SDK's client; it is closed with the provider.
            endpoint: where the client sends to.
            image_store: keeps pictures that come in replies.
            api: which API is used for messages.
            credential: what the client signs in with, if it is closed with the provider.
        """
        self._client, self._endpoint, self._credential = client, endpoint, credential
        self._image_store, self._api = image_store, api
        self._schema_refused = False

    def __repr__(self) -> str:
        """Return the model and its address."""
        return f"OpenAIProvider({self._endpoint.model} at {self._endpoint.base_url})"

    async def send(self, request: Request) -> Reply:
        """Send one request once and return the reply.

        The refusal of a policy filter is a reply.

        Raises:
            ProviderError: the call failed.
        """
        start = time.perf_counter()
        try:
            reply = await (
                self._answer(request) if request.operation == "chat" else self._draw(request)
            )
        except (OpenAIError, aiohttp.ClientError, ServedError, UnreadableReplyError) as error:
            if not is_filtered(error):
                # Without the chain, whose frames hold the key.
                raise provider_error(error, self._endpoint) from None
            reply = FILTERED
        latency = time.perf_counter() - start
        return replace(self._scrubbed(reply), latency=latency, created=time.time())

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()
        if self._credential is not None:
            await self._credential.close()

    async def _answer(self, request: Request) -> Reply:
        if request.role == SOLVER or _SCHEMA not in request.parameters:
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
        # The raw response keeps fields that the client has no classes for, and building its classes
        # takes a third of its CPU time.
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
        """Return the reply without the key, which a server may have repeated in it."""
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
