"""Models behind OpenAI's chat completions, Responses and image APIs, at any server, by the SDK."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

import httpx2
from openai import APIStatusError, AsyncOpenAI, OpenAIError

from pytest_llmeval.engine.ports import ImageStore
from pytest_llmeval.providers.answering import Failures, answered
from pytest_llmeval.providers.connections import content
from pytest_llmeval.providers.openai.errors import is_filtered, provider_error
from pytest_llmeval.providers.openai.replies import read_chat, read_images
from pytest_llmeval.providers.openai.requests import chat_body, image_body
from pytest_llmeval.providers.openai.responses import read_response, response_body
from pytest_llmeval.providers.schema_fallback import SchemaFallback
from pytest_llmeval.providers.services import Endpoint
from pytest_llmeval.records import Json, Reply, Request

_SCHEMA_REFUSED: Final = re.compile(r"response_format|text\.format|json_schema", re.IGNORECASE)
_REFUSALS: Final = frozenset({400, 422})
_FAILURES: Final = Failures(
    kinds=(OpenAIError,), is_filtered=is_filtered, provider_error=provider_error
)


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
    """One model at one endpoint, to which each request is sent once."""

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
        self._fallback = SchemaFallback(_refuses_schema)

    def __repr__(self) -> str:
        """Return the model and its address."""
        return f"OpenAIProvider({self._endpoint.model} at {self._endpoint.base_url})"

    async def send(self, request: Request) -> Reply:
        """Send one request once and return the reply.

        The refusal of a policy filter is a reply.

        Raises:
            ProviderError: the call failed.
        """
        call = (
            self._fallback.send(request, self._chat)
            if request.operation == "chat"
            else self._draw(request)
        )
        return await answered(call, self._endpoint, _FAILURES)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()
        if self._credential is not None:
            await self._credential.close()

    async def _chat(self, request: Request) -> Reply:
        data = json.dumps(self._api.body(request), allow_nan=False, separators=(",", ":")).encode()
        # The raw response keeps fields that the client has no classes for, and building its classes
        # takes a third of its CPU time.
        response = await self._client.post(
            self._api.path,
            cast_to=httpx2.Response,
            content=content(data),
            options={
                "headers": {"Content-Type": "application/json", "Content-Length": str(len(data))}
            },
        )
        return self._api.read(response.content, self._image_store)

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


def _refuses_schema(error: Exception) -> bool:
    return (
        isinstance(error, APIStatusError)
        and error.status_code in _REFUSALS
        and _SCHEMA_REFUSED.search(str(error)) is not None
    )
