"""The provider ``anthropic``: Anthropic, and servers that speak its Messages API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_llmeval.engine.ports import Provider, ProviderSetup
from pytest_llmeval.providers.endpoints import ANTHROPIC
from pytest_llmeval.providers.extras import require
from pytest_llmeval.providers.imported_later import ImportedLater, Opening

if TYPE_CHECKING:
    from pytest_llmeval.engine.batches.ports import BatchService


class AnthropicOpener:
    """Opens ``anthropic/NAME``."""

    def __call__(self, setup: ProviderSetup) -> Provider:
        """Return the provider; UsageError when its key, address or package is wrong."""
        self.check(setup)
        return ImportedLater(_load, setup)

    def open_batches(self, setup: ProviderSetup) -> BatchService:
        """Return the batch API, for which the package is not needed."""
        # aiohttp takes a fifth of a second to import.
        from pytest_llmeval.providers.anthropic.batches import (  # noqa: PLC0415 - as said
            anthropic_batches,
        )

        return anthropic_batches(setup)

    def check(self, setup: ProviderSetup) -> None:
        """Raise UsageError when the key or the package is missing, or the address wrong."""
        endpoint = ANTHROPIC.endpoint(setup.model, setup.options, setup.environ)
        require("anthropic", extra="anthropic", model=endpoint.model)


def _load() -> Opening:
    from pytest_llmeval.providers.anthropic.client import (  # noqa: PLC0415 - an SDK
        anthropic_provider,
    )

    return anthropic_provider


open_anthropic = AnthropicOpener()
