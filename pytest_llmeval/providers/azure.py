"""Models deployed at Azure OpenAI."""

from __future__ import annotations

from openai import AsyncAzureOpenAI

from pytest_llmeval.engine.ports import ProviderSetup
from pytest_llmeval.providers.endpoints import azure_endpoint
from pytest_llmeval.providers.entra import EntraCredential
from pytest_llmeval.providers.openai import NEW_CHAT, RESPONSES, OpenAIProvider, http_client


def open_azure(setup: ProviderSetup) -> OpenAIProvider:
    """Return the provider of an ``azure/`` deployment; without a key, Entra ID gives tokens by way of azure-identity.

    UsageError names what is missing. ``max_tokens`` goes out under its newer name, so the API's
    version must be of September 2024 or later; for ``api=responses`` of March 2025.
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
