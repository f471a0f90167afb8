"""The provider ``azure``: models deployed at Azure OpenAI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_llmeval.engine.ports import Provider, ProviderSetup
from pytest_llmeval.providers.azure.entra import identity_package
from pytest_llmeval.providers.endpoints import azure_endpoint

if TYPE_CHECKING:
    from pytest_llmeval.engine.batches.ports import BatchService


class AzureOpener:
    """Opens ``azure/DEPLOYMENT``."""

    def __call__(self, setup: ProviderSetup) -> Provider:
        """Return the provider; UsageError when its address or every way to sign in is missing."""
        # The SDK takes half a second to import.
        from pytest_llmeval.providers.azure.client import azure_provider  # noqa: PLC0415 - an SDK

        return azure_provider(setup)

    def open_batches(self, setup: ProviderSetup) -> BatchService:
        """Return the batch API; UsageError when its address or every way to sign in is missing."""
        # aiohttp takes a fifth of a second to import.
        from pytest_llmeval.providers.azure.batches import azure_batches  # noqa: PLC0415 - as said

        return azure_batches(setup)

    def check(self, setup: ProviderSetup) -> None:
        """Raise UsageError when the address, or the key and azure-identity are missing."""
        if not azure_endpoint(setup.model, setup.options, setup.environ).key:
            identity_package(setup.model)


open_azure = AzureOpener()
