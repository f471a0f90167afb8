"""Providers whose SDK takes seconds to import."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pytest_llmeval.engine.blocking import run_in_thread
from pytest_llmeval.engine.ports import Provider, ProviderSetup
from pytest_llmeval.engine.resources import Resources
from pytest_llmeval.records import Reply, Request

Opening: TypeAlias = Callable[[ProviderSetup], Provider]
"""Returns the provider of a model, without waiting for anything."""


class ImportedLater:
    """A provider that is opened by the first request, once its SDK is imported in a thread.

    Anthropic's takes three seconds of processor time, in which the event loop would serve no other
    model. It starts before the request (`StartingProvider`), so that no time-out counts it.
    """

    def __init__(self, load: Callable[[], Opening], setup: ProviderSetup) -> None:
        """Import nothing yet.

        Args:
            load: imports the SDK, in a thread, and returns what opens the provider.
            setup: what it is opened with, in the event loop.
        """
        self._load, self._setup = load, setup
        self._opened = Resources()

    async def start(self) -> None:
        """Open the provider, once."""
        await self._provider()

    async def send(self, request: Request) -> Reply:
        """Send one request once and return the reply; ProviderError when the call failed."""
        return await (await self._provider()).send(request)

    async def close(self) -> None:
        """Close the provider, if it was opened."""
        await self._opened.close()

    async def _provider(self) -> Provider:
        return await self._opened.get("provider", self._open)

    async def _open(self) -> Provider:
        opening = await run_in_thread(self._load)
        return opening(self._setup)
