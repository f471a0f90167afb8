"""The provider ``openai``: OpenAI, and servers that speak its protocol."""

from __future__ import annotations

from pytest_llmeval.engine.ports import Provider, ProviderSetup
from pytest_llmeval.providers.endpoints import OPENAI


class OpenAIOpener:
    """Opens ``openai/NAME``.

    Chat completions are used, or the Responses API: if the spec says ``api=responses``, and at
    OpenAI's own address for models that are served by nothing else.
    """

    def __call__(self, setup: ProviderSetup) -> Provider:
        """Return the provider; UsageError when its key or address is wrong."""
        # aiohttp takes a fifth of a second to import.
        from pytest_llmeval.providers.openai import models, provider  # noqa: PLC0415 - as said
        from pytest_llmeval.providers.openai.client import HttpClient  # noqa: PLC0415 - as above

        endpoint = OPENAI.endpoint(setup.model, setup.options, setup.environ)
        at_openai = OPENAI.serves(endpoint.base_url)
        only_responses = at_openai and setup.model in models.responses_only()
        name = setup.options.get("api", "responses" if only_responses else "chat")
        chat = provider.NEW_CHAT if at_openai else provider.CHAT
        return provider.OpenAIProvider(
            HttpClient(endpoint, timeout=setup.timeout),
            endpoint,
            image_store=setup.image_store,
            api=provider.RESPONSES if name == "responses" else chat,
        )

    def check(self, setup: ProviderSetup) -> None:
        """Raise UsageError when the key is missing or the address wrong."""
        OPENAI.endpoint(setup.model, setup.options, setup.environ)


open_openai = OpenAIOpener()
