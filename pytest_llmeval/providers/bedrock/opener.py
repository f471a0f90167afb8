"""The provider ``bedrock``: models at Amazon Bedrock."""

from __future__ import annotations

from pytest_llmeval.engine.ports import Provider, ProviderSetup
from pytest_llmeval.providers.bedrock.endpoint import bedrock_endpoint, bedrock_region
from pytest_llmeval.providers.extras import require
from pytest_llmeval.providers.services import Endpoint


class BedrockOpener:
    """Opens ``bedrock/NAME``."""

    def __call__(self, setup: ProviderSetup) -> Provider:
        """Return the provider; UsageError when its region, address or package is wrong."""
        endpoint, region = self._reached(setup)
        # The SDK takes a while to import.
        from pytest_llmeval.providers.bedrock.client import BedrockClient  # noqa: PLC0415 - an SDK
        from pytest_llmeval.providers.bedrock.provider import (  # noqa: PLC0415 - as above
            BedrockProvider,
        )

        client = BedrockClient(setup, region=region)
        return BedrockProvider(client, endpoint, image_store=setup.image_store)

    def check(self, setup: ProviderSetup) -> None:
        """Raise UsageError when the region or the package is missing, or the address wrong.

        Credentials are looked for by the first call: to find them may need the network.
        """
        self._reached(setup)

    def _reached(self, setup: ProviderSetup) -> tuple[Endpoint, str]:
        require("aiobotocore", extra="bedrock", model=f"bedrock/{setup.model}")
        region = bedrock_region(setup.model, setup.options, setup.environ)
        endpoint = bedrock_endpoint(setup.model, setup.options, setup.environ, region=region)
        return endpoint, region


open_bedrock = BedrockOpener()
