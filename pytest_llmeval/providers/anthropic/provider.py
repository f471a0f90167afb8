"""Models behind Anthropic's Messages API, by the SDK."""

from __future__ import annotations

import json
from typing import Final

import httpx2
from anthropic import AnthropicError, APIStatusError, AsyncAnthropic

from pytest_llmeval.providers.answering import Failures, answered, check_chat, translated
from pytest_llmeval.providers.anthropic.caching import breakpoints, with_breakpoints
from pytest_llmeval.providers.anthropic.errors import is_filtered, provider_error
from pytest_llmeval.providers.anthropic.replies import read_message
from pytest_llmeval.providers.anthropic.requests import SCHEMA_REFUSED, api_version, message_body
from pytest_llmeval.providers.connections import content
from pytest_llmeval.providers.prompt_cache import PromptCache
from pytest_llmeval.providers.schema_fallback import SchemaFallback
from pytest_llmeval.providers.services import Endpoint
from pytest_llmeval.records import Json, Reply, Request

_REFUSALS: Final = frozenset({400, 422})
_FAILURES: Final = Failures(
    kinds=(AnthropicError,), is_filtered=is_filtered, provider_error=provider_error
)


class AnthropicProvider:
    """One model at one endpoint, to which each request is sent once."""

    def __init__(
        self, client: AsyncAnthropic, endpoint: Endpoint, *, cache: PromptCache | None
    ) -> None:
        """Send by a client.

        Args:
            client: the SDK's client; it is closed with the provider.
            endpoint: where the client sends to.
            cache: decides which prefixes of requests are cached; None to cache nothing.
        """
        self._client, self._endpoint, self._cache = client, endpoint, cache
        self._fallback = SchemaFallback(_refuses_schema)

    def __repr__(self) -> str:
        """Return the model and its address."""
        return f"AnthropicProvider({self._endpoint.model} at {self._endpoint.base_url})"

    async def send(self, request: Request) -> Reply:
        """Send one request once and return the reply; a filter's refusal is one.

        Raises:
            ProviderError: the call failed, or the request has no counterpart in this API.
        """
        check_chat(request, self._endpoint)
        call = self._fallback.send(request, self._chat)
        return await answered(call, self._endpoint, _FAILURES)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _chat(self, request: Request) -> Reply:
        body = translated(message_body, request, self._endpoint)
        if self._cache is None:
            return await self._post(body, request)
        with self._cache.marking(breakpoints(body)) as marks:
            return await self._post(with_breakpoints(body, marks), request)

    async def _post(self, body: dict[str, Json], request: Request) -> Reply:
        data = json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
        # The raw response keeps fields that the client has no classes for, and building its classes
        # takes CPU time.
        response = await self._client.post(
            "/v1/messages",
            cast_to=httpx2.Response,
            content=content(data),
            options={
                "headers": {
                    "Content-Type": "application/json",
                    "Content-Length": str(len(data)),
                    "anthropic-version": api_version(request),
                }
            },
        )
        return read_message(response.content)


def _refuses_schema(error: Exception) -> bool:
    return (
        isinstance(error, APIStatusError)
        and error.status_code in _REFUSALS
        and SCHEMA_REFUSED.search(str(error)) is not None
    )
