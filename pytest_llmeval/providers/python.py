"""The ``python/`` provider: code that is not ours stands in for a model."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

from pytest_llmeval.engine.blocking import run_in_thread
from pytest_llmeval.errors import LLMEvalError, ProviderError
from pytest_llmeval.records import Reply, Request, Usage


class PythonProvider:
    """Asks ``callable(request) -> str | Reply``, async or plain; a plain one runs in a thread."""

    def __init__(
        self,
        function: Callable[[Request], object],
        *,
        name: str,
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Wrap `function`; `name` is how errors call it, and `close` lets go of what it holds."""
        self._function, self._name, self._close = function, name, close

    async def send(self, request: Request) -> Reply:
        """Return the callable's reply, with the times and the count of requests that it left out.

        Whatever it raises is a ProviderError of this sample.
        """
        started = time.monotonic()
        try:
            answer = await self._call(request)
        except (LLMEvalError, asyncio.CancelledError):
            raise
        # All else: a SystemExit would end the engine's loop, and leave everybody waiting who waits.
        except BaseException as error:
            msg = f"{self._name} raised {type(error).__name__}: {error}"
            raise ProviderError(msg, cause="python") from error
        if isinstance(answer, str):
            answer = Reply(text=answer)
        if not isinstance(answer, Reply):
            msg = f"{self._name} returned {type(answer).__name__}; expected str or Reply"
            raise ProviderError(msg, cause="python")
        return replace(
            answer,
            usage=answer.usage if answer.usage.requests else answer.usage + Usage(requests=1),
            latency=answer.latency or time.monotonic() - started,
            created=answer.created or time.time(),
        )

    async def _call(self, request: Request) -> object:
        if inspect.iscoroutinefunction(self._function):
            return await self._function(request)
        answer = await run_in_thread(self._function, request)
        # A callable object or a partial does not tell beforehand that it is async.
        return await answer if inspect.isawaitable(answer) else answer

    async def close(self) -> None:
        """Let go of what the callable holds."""
        if self._close is not None:
            await self._close()
