"""Azure OpenAI by the SDK."""

from __future__ import annotations

from openai import AsyncAzureOpenAI

from pytest_llmeval.engine.ports import ProviderSetup
from pytest_llmeval.providers.azure.entra import EntraCredential
from pytest_llmeval.providers.endpoints import azure_endpoint
from pytest_llmeval.providers.openai.client import http_client
from pytest_llmeval.providers.openai.provider import NEW_CHAT, RESPONSES, OpenAIProvider


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
    client = AsyncAzureOpenAI(
        azure_endpoint=endpoint.base_url,
        azure_deployment=setup.model,
        api_version=endpoint.version,
        api_key=endpoint.key or None,
        azure_ad_token_provider=None if credential is None else credential.token,
        max_retries=0,
        http_client=http_client(setup.timeout),
    )
    api = RESPONSES if setup.options.get("api") == "responses" else NEW_CHAT
    return OpenAIProvider(
        client, endpoint, image_store=setup.image_store, api=api, credential=credential
    )
