"""Models behind OpenAI's chat completions and image API, at OpenAI or at any server that speaks it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Protocol
from urllib.parse import urlsplit

import aiohttp
import httpx2
from openai import AsyncOpenAI, DefaultAioHttpClient, OpenAIError

from pytest_llmeval.adapters.openai_errors import Endpoint, provider_error
from pytest_llmeval.adapters.openai_replies import ServedError, UnreadableReplyError, read_chat, read_images
from pytest_llmeval.adapters.openai_requests import chat_body, image_body
from pytest_llmeval.engine.ports import ImageStore
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Reply, Request

OPENAI_URL: Final = "https://api.openai.com/v1"

CONNECT_TIMEOUT: Final = 10.0
"""Seconds for making a connection: who has not answered by then will not."""

_CONNECTIONS: Final = 10_000
"""More than any concurrency: how much is in flight is the limiter's business."""

_PLACEHOLDER_KEY: Final = "none"


class AsyncClosable(Protocol):
    """What holds connections of its own."""

    async def close(self) -> None:
        """Let go of them."""
        ...


class OpenAIProvider:
    """One model at one endpoint. It sends each request once; retries, time-outs and limits are the gateway's.

    ``max_tokens`` goes out as ``max_completion_tokens`` when `completion_tokens` is set: newer models of OpenAI refuse
    the old name, many compatible servers (older vLLM, Ollama) ignore the new one. All other parameters pass through.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        endpoint: Endpoint,
        *,
        image_store: ImageStore,
        completion_tokens: bool,
        credential: AsyncClosable | None = None,
    ) -> None:
        """Take the client and the credential it signs in with, which close with the provider, and the picture store."""
        self._client, self._endpoint, self._credential = client, endpoint, credential
        self._image_store, self._completion_tokens = image_store, completion_tokens

    def __repr__(self) -> str:
        """Return the model and its address."""
        return f"OpenAIProvider({self._endpoint.model} at {self._endpoint.url})"

    async def send(self, request: Request) -> Reply:
        """Send one request once and return the reply; ProviderError tells what failed and how far that reaches."""
        start = time.perf_counter()
        try:
            reply = await (self._chat(request) if request.operation == "chat" else self._draw(request))
        except (OpenAIError, aiohttp.ClientError, ServedError, UnreadableReplyError) as error:
            # Without the chain: its frames hold the key, and the message tells all.
            raise provider_error(error, self._endpoint) from None
        return replace(reply, latency=time.perf_counter() - start, created=time.time())

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()
        if self._credential is not None:
            await self._credential.close()

    async def _chat(self, request: Request) -> Reply:
        body = chat_body(request, completion_tokens=self._completion_tokens)
        # The raw response keeps what the client has no classes for, and building those is a third of its CPU time.
        response = await self._client.post("/chat/completions", cast_to=httpx2.Response, body=body)
        return read_chat(response.content, self._image_store)

    async def _draw(self, request: Request) -> Reply:
        fields, images = image_body(request)
        if not images:
            response = await self._client.post("/images/generations", cast_to=httpx2.Response, body=fields)
            return read_images(response.content, self._image_store)
        name = "image" if len(images) == 1 else "image[]"
        files = [
            (name, (f"{image.digest[:16]}.{image.media_type[6:]}", image.read(), image.media_type)) for image in images
        ]
        response = await self._client.post(
            "/images/edits",
            cast_to=httpx2.Response,
            body=fields,
            files=files,
            options={"headers": {"Content-Type": "multipart/form-data"}},
        )
        return read_images(response.content, self._image_store)


def open_openai(
    model: str, *, base_url: str | None, timeout: float, image_store: ImageStore, environ: Mapping[str, str]
) -> OpenAIProvider:
    """Return the provider of ``openai/model``: at `base_url`, or OPENAI_BASE_URL, or at OpenAI's own address.

    The key comes from OPENAI_API_KEY; a base URL of one's own works without. `timeout`: seconds without a byte.
    UsageError when the key is missing or the URL is none.
    """
    url = base_url or environ.get("OPENAI_BASE_URL") or OPENAI_URL
    host = check_url(url, "base URL").lower()
    at_openai = host == "api.openai.com" or host.endswith(".api.openai.com")
    key = environ.get("OPENAI_API_KEY", "")
    if not key and at_openai:
        msg = f"openai/{model}: no key; set OPENAI_API_KEY, or --llmeval-base-url for a server that needs none"
        raise UsageError(msg)
    client = AsyncOpenAI(api_key=key or _PLACEHOLDER_KEY, base_url=url, max_retries=0, http_client=http_client(timeout))
    endpoint = Endpoint(model=f"openai/{model}", base_url=url, key_name="OPENAI_API_KEY", key=key)
    return OpenAIProvider(client, endpoint, image_store=image_store, completion_tokens=at_openai)


def http_client(timeout: float) -> httpx2.AsyncClient:
    """Return a client over aiohttp: 0.9 ms of CPU time a request with 200 in flight, the default transport 2.4."""
    return DefaultAioHttpClient(
        timeout=httpx2.Timeout(timeout, connect=min(timeout, CONNECT_TIMEOUT)),
        limits=httpx2.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS),
    )


def check_url(url: str, name: str) -> str:
    """Return the host in `url`; UsageError when it is no http address, or holds a password that messages would show."""
    if "@" in url:
        msg = f"{name}: the address holds a user or password; keys come from environment variables only"
        raise UsageError(msg)
    try:
        parts = urlsplit(url)
        host = parts.hostname if parts.scheme in {"http", "https"} else None
    except ValueError:
        host = None
    if not host:
        msg = f"{name}: {url!r} is no address; expected one such as http://localhost:8000/v1"
        raise UsageError(msg)
    return host
