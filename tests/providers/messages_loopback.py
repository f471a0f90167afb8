"""Requests to the loopback server of the Messages API, by way of the provider ``anthropic``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.engine.specs import parse_spec
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.opening import open_provider
from pytest_llmeval.records import Message, Reply, Request

KEY = "sk-ant-test-51f0c2a9e8d7"


class Claude:
    """Asks the server, each time by a provider of its own that is closed afterwards."""

    def __init__(self, url: str, folder: Path) -> None:
        """Take the server's address, and a folder for pictures."""
        self.url, self.folder = url, folder

    def __call__(self, request: Request | str, **options: Any) -> Reply:
        return self.all([question(request) if isinstance(request, str) else request], **options)[0]

    def all(
        self,
        requests: Sequence[Request],
        *,
        spec: str = "anthropic/m,timeout=30",
        together: bool = False,
        **environ: str,
    ) -> list[Reply]:
        """Return the replies to several requests by one provider, one after the other or not."""

        async def main() -> list[Reply]:
            provider = open_provider(
                parse_spec(spec, folder=self.folder),
                folder=self.folder,
                image_store=ImageFolder(self.folder),
                environ={"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": self.url} | environ,
            )
            try:
                if together:
                    return list(await asyncio.gather(*map(provider.send, requests)))
                return [await provider.send(request) for request in requests]
            finally:
                await provider.close()

        return asyncio.run(main())

    def failure(self, request: Request | str = "why?", **options: Any) -> ProviderError:
        """Return the error that a request ends in."""
        with pytest.raises(ProviderError) as caught:
            self(request, **options)
        return caught.value


def question(text: str = "why?", *before: Message, **parameters: Any) -> Request:
    """Return a request of one question, after other messages."""
    messages = (*before, Message.of("user", text))
    return Request(provider="anthropic", model="m", messages=messages, parameters=parameters)
