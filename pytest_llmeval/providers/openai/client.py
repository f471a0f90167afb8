"""Opening clients of the OpenAI SDK."""

from __future__ import annotations

from typing import Final, Literal, get_args, get_origin

import httpx2
from openai import AsyncOpenAI, DefaultAioHttpClient
from openai.types.shared import ChatModel, ResponsesModel

from pytest_llmeval.engine.ports import ProviderSetup
from pytest_llmeval.providers.connections import LIMITS, time_limits
from pytest_llmeval.providers.endpoints import OPENAI
from pytest_llmeval.providers.openai.provider import CHAT, NEW_CHAT, RESPONSES, OpenAIProvider
from pytest_llmeval.providers.services import Endpoint

_PLACEHOLDER_KEY: Final = "none"


def openai_provider(setup: ProviderSetup) -> OpenAIProvider:
    """Return the provider of an ``openai/`` model.

    Chat completions are used, or the Responses API: if the spec says ``api=responses``, and at
    OpenAI's own address for models that are served by nothing else.

    Raises:
        UsageError: the key or the address is wrong.
    """
    endpoint = OPENAI.endpoint(setup.model, setup.options, setup.environ)
    client = AsyncOpenAI(
        api_key=endpoint.key or _PLACEHOLDER_KEY,
        base_url=endpoint.base_url,
        max_retries=0,
        http_client=http_client(setup.timeout),
    )
    at_openai = OPENAI.serves(endpoint.base_url)
    only_responses = at_openai and setup.model in _responses_only()
    api = setup.options.get("api", "responses" if only_responses else "chat")
    return OpenAIProvider(
        client,
        endpoint,
        image_store=setup.image_store,
        api=RESPONSES if api == "responses" else NEW_CHAT if at_openai else CHAT,
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
    """Return a client over aiohttp, for requests that may take `timeout` seconds.

    Args:
        timeout: in seconds.
        proxies: whether those of the environment are used.
    """
    return DefaultAioHttpClient(timeout=time_limits(timeout), limits=LIMITS, trust_env=proxies)
