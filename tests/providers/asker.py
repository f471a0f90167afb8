"""Requests to the loopback servers of Anthropic, Google and Bedrock, through their providers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from pytest_llmeval.engine.specs import parse_spec
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.opening import open_provider
from pytest_llmeval.records import Message, Reply, Request

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Asks a server, each time by a provider of its own that is closed afterwards.

    Attributes:
        spec: the model's spec, in which the server's address stands.
        folder: for pictures.
        environ: the environment variables.
    """

    spec: str
    folder: Path
    environ: Mapping[str, str]

    def __call__(
        self, request: Request | str, *, spec: str = "", environ: Mapping[str, str] = NOTHING
    ) -> Reply:
        asked = question(request) if isinstance(request, str) else request
        return self.all([asked], spec=spec, environ=environ)[0]

    def all(
        self,
        requests: Sequence[Request],
        *,
        spec: str = "",
        together: bool = False,
        environ: Mapping[str, str] = NOTHING,
    ) -> list[Reply]:
        """Return the replies to several requests by one provider, one after the other or not.

        `environ` is added to the environment variables.
        """

        async def main() -> list[Reply]:
            provider = open_provider(
                parse_spec(spec or self.spec, folder=self.folder),
                folder=self.folder,
                image_store=ImageFolder(self.folder),
                environ={**self.environ, **environ},
            )
            try:
                if together:
                    return list(await asyncio.gather(*map(provider.send, requests)))
                return [await provider.send(request) for request in requests]
            finally:
                await provider.close()

        return asyncio.run(main())

    def failure(
        self,
        request: Request | str = "why?",
        *,
        spec: str = "",
        environ: Mapping[str, str] = NOTHING,
    ) -> ProviderError:
        """Return the error that a request ends in."""
        with pytest.raises(ProviderError) as caught:
            self(request, spec=spec, environ=environ)
        return caught.value


KEY = "sk-ant-test-51f0c2a9e8d7"
"""The key by which Anthropic's server is asked."""


def asker_of_claude(url: str, folder: Path) -> Asker:
    """Return what asks the loopback server of the Messages API."""
    environ = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url}
    return Asker(spec="anthropic/m,timeout=30", folder=folder, environ=environ)


def question(text: str = "why?", *before: Message, model: str = "m", **parameters: Any) -> Request:
    """Return a request of one question, after other messages."""
    messages = (*before, Message.of("user", text))
    return Request(provider="any", model=model, messages=messages, parameters=parameters)


TOOL: Any = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add two numbers.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
            "required": ["a", "b"],
        },
    },
}
