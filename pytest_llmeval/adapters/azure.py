"""Models deployed at Azure OpenAI."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from importlib import import_module
from typing import Final

from openai import AsyncAzureOpenAI

from pytest_llmeval.adapters.openai import OpenAIProvider, check_url, http_client
from pytest_llmeval.adapters.openai_errors import Endpoint
from pytest_llmeval.engine.ports import ImageStore
from pytest_llmeval.errors import ProviderError, UsageError

_SCOPE: Final = "https://cognitiveservices.azure.com/.default"


def open_azure(
    deployment: str, *, base_url: str | None, timeout: float, image_store: ImageStore, environ: Mapping[str, str]
) -> OpenAIProvider:
    """Return the provider of ``azure/deployment`` at `base_url` or AZURE_OPENAI_ENDPOINT.

    OPENAI_API_VERSION names the API's version. The key comes from AZURE_OPENAI_API_KEY; without one, Entra ID gives
    tokens by way of azure-identity. UsageError names what is missing. ``max_tokens`` goes out under its newer name, so
    the API's version must be of September 2024 or later.
    """
    url = base_url or _required(environ, "AZURE_OPENAI_ENDPOINT", deployment, "https://NAME.openai.azure.com")
    check_url(url, "AZURE_OPENAI_ENDPOINT")
    version = _required(environ, "OPENAI_API_VERSION", deployment, "2025-04-01-preview")
    key = environ.get("AZURE_OPENAI_API_KEY") or None
    credential = None if key else EntraCredential(deployment)
    client = AsyncAzureOpenAI(
        azure_endpoint=url,
        azure_deployment=deployment,
        api_version=version,
        api_key=key,
        azure_ad_token_provider=None if credential is None else credential.token,
        max_retries=0,
        http_client=http_client(timeout),
    )
    endpoint = Endpoint(model=f"azure/{deployment}", base_url=url, key_name="AZURE_OPENAI_API_KEY", key=key or "")
    return OpenAIProvider(client, endpoint, image_store=image_store, completion_tokens=True, credential=credential)


def _required(environ: Mapping[str, str], name: str, deployment: str, example: str) -> str:
    value = environ.get(name)
    if not value:
        msg = f"azure/{deployment}: {name} is not set; expected a value such as {example}"
        raise UsageError(msg)
    return value


class EntraCredential:
    """Signs in by Entra ID, in the ways that azure-identity's default credential knows."""

    def __init__(self, deployment: str) -> None:
        """Take the deployment that messages name; UsageError when azure-identity is not installed."""
        try:
            identity = import_module("azure.identity.aio")
        except ImportError:
            msg = (
                f"azure/{deployment}: no key; set AZURE_OPENAI_API_KEY, or install azure-identity "
                "(pip install 'pytest-llmeval-suite[azure]') to sign in by Entra ID"
            )
            raise UsageError(msg) from None
        self._deployment = deployment
        self._credential = identity.DefaultAzureCredential()
        self._token = identity.get_bearer_token_provider(self._credential, _SCOPE)
        # Hundreds of first requests would otherwise sign in at once, each perhaps by a process of its own.
        self._one_at_a_time = asyncio.Lock()

    async def token(self) -> str:
        """Return a token that is valid now; ProviderError when there is none."""
        try:
            async with self._one_at_a_time:
                return str(await self._token())
        except Exception as error:  # noqa: BLE001 - azure-identity is no dependency, its errors cannot be named
            msg = f"azure/{self._deployment}: Entra ID gave no token ({type(error).__name__}); az login, or set a key"
            raise ProviderError(msg, reach="model", cause="token") from None

    async def close(self) -> None:
        """Close the connections."""
        await self._credential.close()
