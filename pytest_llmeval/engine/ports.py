"""The ports of the engine: providers of models, and a store of pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from pytest_llmeval.engine.spec_settings import STARTUP
from pytest_llmeval.records import Image, Reply, Request


class Provider(Protocol):
    """The connection to one model."""

    async def send(self, request: Request) -> Reply:
        """Send one request, once, and return the reply.

        The engine takes care of retries, limits and time-outs. Hundreds of calls run concurrently
        in one event loop, and each may be cancelled.

        Raises:
            ProviderError: the call failed; its `reach` is what the failure ends.
        """
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


@runtime_checkable
class StartingProvider(Protocol):
    """A provider that starts something before its first request, such as a server of the run's."""

    async def start(self) -> None:
        """Start it, and wait until it is ready; it is started once, however often this is called.

        It is awaited before each request, outside of limits and time-outs.

        Raises:
            ProviderError: it did not start, so that the model is lost (`reach` is ``"model"``).
        """
        ...


class ImageStore(Protocol):
    """A store of pictures, each once by its digest."""

    def load(self, path: str) -> Image:
        """Return a dataset's picture as it is sent, scaled down if it is large.

        Raises:
            TaskError: the file is not a picture.
        """
        ...

    def save(self, data: bytes) -> Image:
        """Store the bytes and return the image; ValueError when they are not a picture."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSetup:
    """The arguments with which a provider is opened.

    Attributes:
        model: the part of the spec after the provider's name.
        options: those of ``base_url``, ``key`` (name of an environment variable), ``api``,
            ``cache``, ``serve`` and ``vision`` that the spec sets, and of the provider's own
            (`spec_settings.PLACES`).
        timeout: seconds that one request may take.
        image_store: stores pictures in replies.
        environ: the environment variables.
        folder: where relative paths in specs start.
        startup: seconds that a server of the provider's own may take until it is ready.
        run_folder: the folder of the run's files, for the log of such a server.
        tell: shows a line to the user.
    """

    model: str
    options: Mapping[str, str]
    timeout: float
    image_store: ImageStore
    environ: Mapping[str, str]
    folder: Path = Path()
    startup: float = STARTUP
    run_folder: Path = Path()
    tell: Callable[[str], None] = lambda _: None


class OpenProvider(Protocol):
    """A function that opens providers; a name in the registry `PROVIDERS` refers to one.

    It may also have the method of `CheckProvider`.
    """

    def __call__(self, setup: ProviderSetup) -> Provider:
        """Return the provider of one model.

        It is called in the engine's event loop, once per model, before its first request.

        Raises:
            UsageError: something is missing, such as a key.
        """
        ...


@runtime_checkable
class CheckProvider(Protocol):
    """An opener that can check its arguments without opening a provider."""

    def check(self, setup: ProviderSetup) -> None:
        """Raise the UsageError that opening would raise; without network access.

        It is called before the first test of a run, outside the event loop.
        """
        ...
