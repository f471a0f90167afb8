"""The provider ``openai``: OpenAI, and servers that speak its protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_llmeval.engine.ports import Provider, ProviderSetup
from pytest_llmeval.providers.endpoints import OPENAI
from pytest_llmeval.providers.services import Endpoint

if TYPE_CHECKING:  # aiohttp comes with them
    from pytest_llmeval.engine.batches.ports import BatchService
    from pytest_llmeval.providers.openai.provider import Api


class OpenAIOpener:
    """Opens ``openai/NAME``.

    Chat completions are used, or the Responses API: if the spec says ``api=responses``, and at
    OpenAI's own address for models that are served by nothing else.
    """

    def __call__(self, setup: ProviderSetup) -> Provider:
        """Return the provider; UsageError when its key or address is wrong."""
        # aiohttp takes a fifth of a second to import.
        from pytest_llmeval.providers.openai import provider  # noqa: PLC0415 - as said
        from pytest_llmeval.providers.openai.client import HttpClient  # noqa: PLC0415 - as above

        endpoint = OPENAI.endpoint(setup.model, setup.options, setup.environ)
        return provider.OpenAIProvider(
            HttpClient(endpoint, timeout=setup.timeout),
            endpoint,
            image_store=setup.image_store,
            api=_api(setup, endpoint),
        )

    def open_batches(self, setup: ProviderSetup) -> BatchService:
        """Return the batch API; UsageError when its key or address is wrong."""
        from pytest_llmeval.providers.openai.batches import (  # noqa: PLC0415 - as above
            openai_batches,
        )

        endpoint = OPENAI.endpoint(setup.model, setup.options, setup.environ)
        return openai_batches(setup, endpoint, _api(setup, endpoint))

    def check(self, setup: ProviderSetup) -> None:
        """Raise UsageError when the key is missing or the address wrong."""
        OPENAI.endpoint(setup.model, setup.options, setup.environ)


def _api(setup: ProviderSetup, endpoint: Endpoint) -> Api:
    """Return the API by which a model is asked."""
    from pytest_llmeval.providers.openai import models, provider  # noqa: PLC0415 - as above

    at_openai = OPENAI.serves(endpoint.base_url)
    only_responses = at_openai and setup.model in models.responses_only()
    name = setup.options.get("api", "responses" if only_responses else "chat")
    chat = provider.NEW_CHAT if at_openai else provider.CHAT
    return provider.RESPONSES if name == "responses" else chat


open_openai = OpenAIOpener()
