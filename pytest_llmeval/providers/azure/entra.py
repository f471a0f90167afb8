"""Signing in to Azure by Entra ID, with the package azure-identity (extra ``azure``)."""

from __future__ import annotations

import asyncio
from importlib import import_module
from types import ModuleType
from typing import Final

from pytest_llmeval.errors import ProviderError, UsageError

_SCOPE: Final = "https://cognitiveservices.azure.com/.default"


def identity_package(deployment: str) -> ModuleType:
    """Return the package ``azure.identity.aio``.

    Raises:
        UsageError: it is not installed; the message names the deployment.
    """
    try:
        return import_module("azure.identity.aio")
    except ImportError:
        msg = (
            f"azure/{deployment}: no key; set AZURE_OPENAI_API_KEY, or install azure-identity "
            "(pip install 'pytest-llmeval-suite[azure]') to sign in by Entra ID"
        )
        raise UsageError(msg) from None


class EntraCredential:
    """Signs in by azure-identity's default credential."""

    def __init__(self, deployment: str) -> None:
        """Take the deployment, for messages; UsageError when azure-identity is not installed."""
        identity = identity_package(deployment)
        self._deployment = deployment
        self._credential = identity.DefaultAzureCredential()
        self._token = identity.get_bearer_token_provider(self._credential, _SCOPE)
        self._signed_in = False
        # Hundreds of first requests would otherwise sign in at once, each perhaps by a process.
        self._one_at_a_time = asyncio.Lock()

    async def token(self) -> str:
        """Return a token that is valid now.

        Raises:
            ProviderError: there is none. If there never was one, the model is lost. Later failures
                end the attempt only: azure-identity does not distinguish those of the network.
        """
        try:
            async with self._one_at_a_time:
                token = str(await self._token())
        except Exception as error:  # noqa: BLE001 - azure-identity's errors cannot be imported
            msg = (
                f"azure/{self._deployment}: Entra ID gave no token ({type(error).__name__}); "
                "az login, or set a key"
            )
            raise ProviderError(
                msg, reach="attempt" if self._signed_in else "model", cause="token"
            ) from None
        self._signed_in = True
        return token

    async def close(self) -> None:
        """Close the connections."""
        await self._credential.close()
