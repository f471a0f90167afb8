"""The provider ``bedrock``: models at Amazon Bedrock."""

from __future__ import annotations

from pytest_llmeval.engine.ports import Provider, ProviderSetup
from pytest_llmeval.providers.bedrock.endpoint import bedrock_endpoint, bedrock_region
from pytest_llmeval.providers.extras import require
from pytest_llmeval.providers.imported_later import ImportedLater, Opening


class BedrockOpener:
    """Opens ``bedrock/NAME``."""

    def __call__(self, setup: ProviderSetup) -> Provider:
        """Return the provider; UsageError when its region, address or package is wrong."""
        self.check(setup)
        return ImportedLater(_load, setup)

    def check(self, setup: ProviderSetup) -> None:
        """Raise UsageError when the region or the package is missing, or the address wrong.

        Credentials are looked for by the first call: to find them may need the network.
        """
        require("aiobotocore", extra="bedrock", model=f"bedrock/{setup.model}")
        region = bedrock_region(setup.model, setup.options, setup.environ)
        bedrock_endpoint(setup.model, setup.options, setup.environ, region=region)


def _load() -> Opening:
    from pytest_llmeval.providers.bedrock.provider import bedrock_provider  # noqa: PLC0415 - an SDK

    return bedrock_provider


open_bedrock = BedrockOpener()
