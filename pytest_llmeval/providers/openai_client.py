"""Opening clients of the OpenAI SDK."""

from __future__ import annotations

from typing import Final, Literal, get_args, get_origin

import httpx2
from openai import AsyncOpenAI, DefaultAioHttpClient
from openai.types.shared import ChatModel, ResponsesModel

from pytest_llmeval.engine.ports import ProviderSetup
from pytest_llmeval.providers.endpoints import Endpoint, openai_endpoint
from pytest_llmeval.providers.openai_provider import CHAT, NEW_CHAT, RESPONSES, OpenAIProvider

CONNECT_TIMEOUT: Final = 10.0
"""Seconds that making a connection may take."""

_CONNECTIONS: Final = 10_000
"""More than any concurrency: the limiter bounds the requests in flight."""

_PLACEHOLDER_KEY: Final = "none"


def openai_provider(setup: ProviderSetup) -> OpenAIProvider:
    """Return the provider of an ``openai/`` model.

    Chat completions are used, or the Responses API: if the spec says ``api=responses``, and at
    OpenAI's own address for models that are served by nothing else.

    Raises:
        UsageError: the key or the address is wrong.
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


def local_provider(endpoint: Endpoint, setup: ProviderSetup) -> OpenAIProvider:
    """Return the provider of a server on this machine, past all proxies."""
    client = AsyncOpenAI(
        api_key=endpoint.key,
        base_url=endpoint.base_url,
        max_retries=0,
        http_client=http_client(setup.timeout, proxies=False),
    )
    return OpenAIProvider(client, endpoint, image_store=setup.image_store, api=CHAT)


def _responses_only() -> frozenset[str]:
    """Return the models that OpenAI serves by the Responses API alone, as its client lists them."""
    listed = (names for names in get_args(ResponsesModel) if get_origin(names) is Literal)
    return frozenset(name for names in listed for name in get_args(names)) - set(
        get_args(ChatModel)
    )


def http_client(timeout: float, *, proxies: bool = True) -> httpx2.AsyncClient:
    """Return a client over aiohttp; `proxies` of the environment are used.

    It takes 0.9 ms of CPU time a request with 200 in flight; the default transport takes 2.4.
    """
    return DefaultAioHttpClient(
        timeout=httpx2.Timeout(timeout, connect=min(timeout, CONNECT_TIMEOUT)),
        limits=httpx2.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS),
        trust_env=proxies,
    )
