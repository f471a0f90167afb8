"""The provider ``openai``: OpenAI, and servers that speak its protocol."""

from __future__ import annotations

from pytest_llmeval.engine.ports import Provider, ProviderSetup
from pytest_llmeval.providers.endpoints import OPENAI


class OpenAIOpener:
    """Opens ``openai/NAME``."""

    def __call__(self, setup: ProviderSetup) -> Provider:
        """Return the provider; UsageError when its key or address is wrong."""
        # The SDK takes half a second to import.
        from pytest_llmeval.providers.openai.client import openai_provider  # noqa: PLC0415 - an SDK

        return openai_provider(setup)

    def check(self, setup: ProviderSetup) -> None:
        """Raise UsageError when the key is missing or the address wrong."""
        OPENAI.endpoint(setup.model, setup.options, setup.environ)


open_openai = OpenAIOpener()
