"""A model served by a ``vllm serve`` of the run's own, which is asked as OpenAI's servers are."""

from __future__ import annotations

from typing import Final

from pytest_llmeval.engine.ports import ProviderSetup
from pytest_llmeval.engine.resources import Resources
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.providers.openai.client import HttpClient
from pytest_llmeval.providers.openai.provider import CHAT, OpenAIProvider
from pytest_llmeval.providers.vllm.server import VllmServer
from pytest_llmeval.records import Reply, Request

_BROKEN: Final = frozenset({"unreachable", "reset", "truncated"})
"""Causes of failures by which a server that has ended shows itself."""


class VllmProvider:
    """One model on one server, which is started before the first request."""

    def __init__(self, server: VllmServer, setup: ProviderSetup) -> None:
        """Start nothing yet."""
        self._server, self._setup = server, setup
        self._running = Resources()

    async def start(self) -> None:
        """Start the server, once, and wait until it is ready; ProviderError when it is lost."""
        await self._started()

    async def send(self, request: Request) -> Reply:
        """Send one request once and return the reply.

        Raises:
            ProviderError: the call failed; or the server has ended, so that the model is lost.
        """
        provider = await self._started()
        try:
            return await provider.send(request)
        except ProviderError as error:
            lost = await self._server.ended() if error.cause in _BROKEN else None
            raise lost or error from None

    async def close(self) -> None:
        """End the server."""
        try:
            await self._running.close()
        finally:
            await self._server.stop()

    async def _started(self) -> OpenAIProvider:
        try:
            return await self._running.get("server", self._start)
        except ProviderError as error:
            # A new one for each request: an exception raised twice gathers both tracebacks.
            raise ProviderError(str(error), reach=error.reach, cause=error.cause) from None

    async def _start(self) -> OpenAIProvider:
        try:
            endpoint = await self._server.start()
        except BaseException:
            await self._server.stop()
            raise
        client = HttpClient(endpoint, timeout=self._setup.timeout, proxies=False)
        return OpenAIProvider(client, endpoint, image_store=self._setup.image_store, api=CHAT)
