"""The provider ``google``: Gemini and other models, at Google AI or Vertex AI."""

from __future__ import annotations

from pytest_llmeval.engine.ports import Provider, ProviderSetup
from pytest_llmeval.providers.extras import require
from pytest_llmeval.providers.google.endpoint import google_endpoint
from pytest_llmeval.providers.imported_later import ImportedLater, Opening


class GoogleOpener:
    """Opens ``google/NAME``."""

    def __call__(self, setup: ProviderSetup) -> Provider:
        """Return the provider; UsageError when its key, address or package is wrong."""
        self.check(setup)
        return ImportedLater(_load, setup)

    def check(self, setup: ProviderSetup) -> None:
        """Raise UsageError when the key or the package is missing, or the address wrong."""
        endpoint = google_endpoint(setup.model, setup.options, setup.environ)
        require("google.genai", extra="google", model=endpoint.model)


def _load() -> Opening:
    from pytest_llmeval.providers.google.client import google_provider  # noqa: PLC0415 - an SDK

    return google_provider


open_google = GoogleOpener()
