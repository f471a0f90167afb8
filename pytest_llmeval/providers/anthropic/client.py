"""Opening clients of the Anthropic SDK."""

from __future__ import annotations

from typing import Final

from anthropic import AsyncAnthropic, DefaultAioHttpClient

from pytest_llmeval.engine.ports import ProviderSetup
from pytest_llmeval.providers.anthropic.provider import AnthropicProvider
from pytest_llmeval.providers.endpoints import ANTHROPIC
from pytest_llmeval.providers.httpx_settings import LIMITS, time_limits
from pytest_llmeval.providers.prompt_cache import PromptCache

_PLACEHOLDER_KEY: Final = "none"


def anthropic_provider(setup: ProviderSetup) -> AnthropicProvider:
    """Return the provider of an ``anthropic/`` model.

    Raises:
        UsageError: the key or the address is wrong.
    """
    endpoint = ANTHROPIC.endpoint(setup.model, setup.options, setup.environ)
    client = AsyncAnthropic(
        api_key=endpoint.key or _PLACEHOLDER_KEY,
        base_url=endpoint.base_url.rstrip("/").removesuffix("/v1"),
        max_retries=0,
        http_client=DefaultAioHttpClient(timeout=time_limits(setup.timeout), limits=LIMITS),
    )
    caches = setup.options.get("cache", "on") == "on"
    return AnthropicProvider(client, endpoint, cache=PromptCache() if caches else None)
