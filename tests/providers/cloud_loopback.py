"""Requests to the loopback servers of Google and Bedrock, by way of their providers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_llmeval.engine.specs import parse_spec
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.opening import open_provider
from pytest_llmeval.records import Json, Message, Reply, Request


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

    def __call__(self, request: Request | str, *, spec: str = "") -> Reply:
        return self.all([question(request) if isinstance(request, str) else request], spec=spec)[0]

    def all(
        self, requests: Sequence[Request], *, spec: str = "", together: bool = False
    ) -> list[Reply]:
        """Return the replies to several requests by one provider, one after the other or not."""

        async def main() -> list[Reply]:
            provider = open_provider(
                parse_spec(spec or self.spec, folder=self.folder),
                folder=self.folder,
                image_store=ImageFolder(self.folder),
                environ=self.environ,
            )
            try:
                if together:
                    return list(await asyncio.gather(*map(provider.send, requests)))
                return [await provider.send(request) for request in requests]
            finally:
                await provider.close()

        return asyncio.run(main())

    def failure(self, request: Request | str = "why?", *, spec: str = "") -> ProviderError:
        """Return the error that a request ends in."""
        with pytest.raises(ProviderError) as caught:
            self(request, spec=spec)
        return caught.value


def question(text: str = "why?", *before: Message, model: str = "m", **parameters: Json) -> Request:
    """Return a request of one question, after other messages."""
    messages = (*before, Message.of("user", text))
    return Request(provider="any", model=model, messages=messages, parameters=parameters)


TOOL: Json = {
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
