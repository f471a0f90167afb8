"""Azure OpenAI by the SDK, which knows its addresses and signs in."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence

import aiohttp
import httpx2
from openai import APIStatusError, AsyncAzureOpenAI, DefaultAioHttpClient, OpenAIError

from pytest_llmeval.engine.ports import ProviderSetup
from pytest_llmeval.providers.azure.entra import EntraCredential
from pytest_llmeval.providers.connections import content
from pytest_llmeval.providers.endpoints import azure_endpoint
from pytest_llmeval.providers.http_failures import aiohttp_failure
from pytest_llmeval.providers.httpx_settings import LIMITS, time_limits
from pytest_llmeval.providers.openai.client import Attachment, StatusError, json_body
from pytest_llmeval.providers.openai.provider import NEW_CHAT, RESPONSES, OpenAIProvider
from pytest_llmeval.records import Json


def azure_provider(setup: ProviderSetup) -> OpenAIProvider:
    """Return the provider of an ``azure/`` deployment.

    Without a key, tokens come from Entra ID by azure-identity. ``max_tokens`` is sent under its
    newer name, so the API's version must be of September 2024 or later; for ``api=responses`` of
    March 2025.

    Raises:
        UsageError: the address is missing, or both ways to sign in.
    """
    endpoint = azure_endpoint(setup.model, setup.options, setup.environ)
    credential = None if endpoint.key else EntraCredential(setup.model)
    sdk = AsyncAzureOpenAI(
        azure_endpoint=endpoint.base_url,
        azure_deployment=setup.model,
        api_version=endpoint.version,
        api_key=endpoint.key or None,
        azure_ad_token_provider=None if credential is None else credential.token,
        max_retries=0,
        http_client=DefaultAioHttpClient(timeout=time_limits(setup.timeout), limits=LIMITS),
    )
    return OpenAIProvider(
        AzureClient(sdk, credential),
        endpoint,
        image_store=setup.image_store,
        api=RESPONSES if setup.options.get("api") == "responses" else NEW_CHAT,
    )


class AzureClient:
    """The `Client` of a deployment."""

    def __init__(self, sdk: AsyncAzureOpenAI, credential: EntraCredential | None) -> None:
        """Take the SDK's client, and what it signs in with; both are closed with this one."""
        self._sdk, self._credential = sdk, credential

    async def post(self, path: str, fields: Mapping[str, Json]) -> bytes:
        """Send a JSON object."""
        data = json_body(fields)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(data))}
        # The raw response keeps fields that the SDK has no classes for, and spares making them.
        call = self._sdk.post(
            path, cast_to=httpx2.Response, content=content(data), options={"headers": headers}
        )
        return await _body(path, call)

    async def post_form(
        self, path: str, fields: Mapping[str, Json], files: Sequence[Attachment]
    ) -> bytes:
        """Send a form with files."""
        call = self._sdk.post(
            path,
            cast_to=httpx2.Response,
            body=fields,
            files=[(file.field, (file.name, file.content, file.media_type)) for file in files],
            options={"headers": {"Content-Type": "multipart/form-data"}},
        )
        return await _body(path, call)

    async def close(self) -> None:
        """Close the connections."""
        await self._sdk.close()
        if self._credential is not None:
            await self._credential.close()


async def _body(path: str, call: Awaitable[httpx2.Response]) -> bytes:
    """Return the body of a response; a failure is raised as `Client` has it."""
    try:
        return (await call).content
    except APIStatusError as error:
        status, headers = error.status_code, error.response.headers
        raise StatusError(status, headers, error.body, path) from None
    except OpenAIError as error:
        raise aiohttp_failure(error) or aiohttp.ClientConnectionError(str(error)) from None
