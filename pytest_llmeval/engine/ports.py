"""What the engine needs from outside: providers of models, and a store for pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from pytest_llmeval.records import Image, Reply, Request


class Provider(Protocol):
    """One model at one place."""

    async def send(self, request: Request) -> Reply:
        """Send one request once and return the reply.

        Retries, limits and time-outs are the engine's. Hundreds of calls run at the same time in
        one event loop, and each may be cancelled.

        Raises:
            ProviderError: the call failed; its `reach` says what the failure ends.
        """
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


class ImageStore(Protocol):
    """Keeps pictures by digest, once each."""

    def load(self, path: str) -> Image:
        """Return a dataset's picture as it is sent, scaled down if it is large.

        Raises:
            TaskError: the file is no picture.
        """
        ...

    def save(self, data: bytes) -> Image:
        """Store the bytes and return the image; ValueError when they are no picture."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSetup:
    """What a provider is opened with.

    Attributes:
        model: what follows the provider's name in a spec.
        options: ``base_url``, ``key`` (the name of an environment variable), ``api`` and
            ``vision``, as far as the spec has them.
        timeout: seconds that one request may take.
        image_store: keeps pictures that come in replies.
        environ: the environment's variables.
        folder: where relative paths in specs start.
    """

    model: str
    options: Mapping[str, str]
    timeout: float
    image_store: ImageStore
    environ: Mapping[str, str]
    folder: Path = Path()


class OpenProvider(Protocol):
    """What a name of a provider refers to, such as an entry point.

    An opener may also have the method of `CheckProvider`.
    """

    def __call__(self, setup: ProviderSetup) -> Provider:
        """Return the provider of one model.

        Called in the engine's event loop, once for each model, before its first request.

        Raises:
            UsageError: something is missing, such as a key.
        """
        ...


@runtime_checkable
class CheckProvider(Protocol):
    """An opener that knows what is missing without opening anything."""

    def check(self, setup: ProviderSetup) -> None:
        """Raise the UsageError that opening would end in, without network, and fast.

        Called before the first test of a run, outside the event loop.
        """
        ...
