"""Models behind OpenAI's chat completions, Responses and image APIs, at any server."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from pytest_llmeval.engine.ports import ImageStore
from pytest_llmeval.providers.answering import Failures, answered
from pytest_llmeval.providers.openai.client import Attachment, Client, StatusError
from pytest_llmeval.providers.openai.errors import is_filtered, provider_error
from pytest_llmeval.providers.openai.replies import read_chat, read_images
from pytest_llmeval.providers.openai.requests import chat_body, image_body
from pytest_llmeval.providers.openai.responses import read_response, response_body
from pytest_llmeval.providers.schema_fallback import SchemaFallback
from pytest_llmeval.providers.services import Endpoint
from pytest_llmeval.records import Json, Reply, Request

_SCHEMA_REFUSED: Final = re.compile(r"response_format|text\.format|json_schema", re.IGNORECASE)
_REFUSALS: Final = frozenset({400, 422})
FAILURES: Final = Failures(
    kinds=(StatusError,), is_filtered=is_filtered, provider_error=provider_error
)


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
        client: Client,
        endpoint: Endpoint,
        *,
        image_store: ImageStore,
        api: Api,
    ) -> None:
        """Send by a client.

        Args:
            client: sends to the endpoint; it is closed with the provider.
            endpoint: where the client sends to.
            image_store: keeps pictures that come in replies.
            api: which API is used for messages.
        """
        self._client, self._endpoint = client, endpoint
        self._image_store, self._api = image_store, api
        self._fallback = SchemaFallback(refuses_schema)

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
        return await answered(call, self._endpoint, FAILURES)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _chat(self, request: Request) -> Reply:
        body = await self._client.post(self._api.path, self._api.body(request))
        return self._api.read(body, self._image_store)

    async def _draw(self, request: Request) -> Reply:
        fields, images = image_body(request)
        if not images:
            body = await self._client.post("/images/generations", fields)
            return read_images(body, self._image_store)
        name = "image" if len(images) == 1 else "image[]"
        files = [
            Attachment(
                name, f"{image.digest[:16]}.{image.media_type[6:]}", image.read(), image.media_type
            )
            for image in images
        ]
        body = await self._client.post_form("/images/edits", fields, files)
        return read_images(body, self._image_store)


def refuses_schema(error: Exception) -> bool:
    """Return whether a failed call says that the JSON schema in it is what is refused."""
    return (
        isinstance(error, StatusError)
        and error.status in _REFUSALS
        and _SCHEMA_REFUSED.search(str(error)) is not None
    )
