"""Ports of the engine: providers of models, and a store of pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pytest_llmeval.records import Image, Reply, Request


class Provider(Protocol):
    """One way to reach a model. Raises ProviderError, whose `reach` says what the failure ends."""

    async def send(self, request: Request) -> Reply:
        """Send one request once (retries, limits and time-outs are the engine's) and return the reply.

        Hundreds of these run at the same time in one event loop, and each may be cancelled.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class ImageStore(Protocol):
    """Keeps pictures by digest, once each."""

    def load(self, path: str) -> Image:
        """Return a dataset's picture as it is sent, scaled down if it is large; TaskError when it is no picture."""
        ...

    def save(self, data: bytes) -> Image:
        """Store the bytes and return the image; ValueError when they are no picture."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSetup:
    """What a provider is opened with.

    `model` is what follows the provider's name in a spec; `options` hold ``base_url`` and ``key``
    (the name of an environment variable) where the spec has them; `timeout` are the seconds that
    one request may take. Pictures that come in replies go into `image_store`.
    """

    model: str
    options: Mapping[str, str]
    timeout: float
    image_store: ImageStore
    environ: Mapping[str, str]


class OpenProvider(Protocol):
    """What an entry point of the group ``pytest_llmeval.providers`` refers to."""

    def __call__(self, setup: ProviderSetup) -> Provider:
        """Return the provider of one model; UsageError says what is missing, such as a key.

        Called in the engine's event loop, once for each model, before the model's first request.
        """
        ...
