"""Models behind Bedrock's Converse API, by aiobotocore."""

from __future__ import annotations

from typing import Final

from botocore.exceptions import BotoCoreError, ClientError

from pytest_llmeval.engine.ports import ImageStore, ProviderSetup
from pytest_llmeval.providers.answering import Failures, answered, check_chat, translated
from pytest_llmeval.providers.bedrock.client import BedrockClient
from pytest_llmeval.providers.bedrock.endpoint import bedrock_endpoint, bedrock_region
from pytest_llmeval.providers.bedrock.errors import (
    is_filtered,
    provider_error,
    refuses_schema,
)
from pytest_llmeval.providers.bedrock.replies import read_converse
from pytest_llmeval.providers.bedrock.requests import converse_request
from pytest_llmeval.providers.schema_fallback import SchemaFallback
from pytest_llmeval.providers.services import Endpoint
from pytest_llmeval.records import Reply, Request

_FAILURES: Final = Failures(
    kinds=(ClientError, BotoCoreError), is_filtered=is_filtered, provider_error=provider_error
)
"""Those are all that the SDK raises for a call."""


class BedrockProvider:
    """One model at one endpoint, to which each request is sent once."""

    def __init__(
        self, client: BedrockClient, endpoint: Endpoint, *, image_store: ImageStore
    ) -> None:
        """Send by a client.

        Args:
            client: it is closed with the provider.
            endpoint: where the client sends to.
            image_store: keeps pictures that come in replies.
        """
        self._client, self._endpoint, self._image_store = client, endpoint, image_store
        self._fallback = SchemaFallback(refuses_schema)

    def __repr__(self) -> str:
        """Return the model and its address."""
        return f"BedrockProvider({self._endpoint.model} at {self._endpoint.base_url})"

    async def send(self, request: Request) -> Reply:
        """Send one request once and return the reply; a filter's refusal is one.

        Raises:
            ProviderError: the call failed, or the request has no counterpart in this API.
        """
        check_chat(request, self._endpoint)
        call = self._fallback.send(request, self._converse)
        return await answered(call, self._endpoint, _FAILURES)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _converse(self, request: Request) -> Reply:
        wanted = translated(converse_request, request, self._endpoint)
        return read_converse(await self._client.converse(wanted), self._image_store)


def bedrock_provider(setup: ProviderSetup) -> BedrockProvider:
    """Return the provider of a ``bedrock/`` model; UsageError when region or address is wrong."""
    region = bedrock_region(setup.model, setup.options, setup.environ)
    endpoint = bedrock_endpoint(setup.model, setup.options, setup.environ, region=region)
    client = BedrockClient(setup, region=region)
    return BedrockProvider(client, endpoint, image_store=setup.image_store)
