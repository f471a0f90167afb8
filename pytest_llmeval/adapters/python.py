"""The ``python/`` provider: a callable of the user's stands in for a model."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable

from pytest_llmeval.errors import LLMEvalError, ProviderError
from pytest_llmeval.records import Reply, Request, Usage
from pytest_llmeval.solvers.blocking import run_in_thread


class PythonProvider:
    """Asks ``callable(request) -> str | Reply``, async or plain; a plain one runs in a thread."""

    def __init__(self, function: Callable[[Request], object], *, name: str) -> None:
        """Wrap `function`; `name` is how errors call it."""
        self._function, self._name = function, name

    async def send(self, request: Request) -> Reply:
        """Return the callable's reply; whatever it raises is a ProviderError of this sample."""
        started = time.monotonic()
        try:
            answer = await self._call(request)
        except (LLMEvalError, asyncio.CancelledError):
            raise
        # All else: a SystemExit would end the engine's loop, and leave everybody waiting who waits.
        except BaseException as error:
            msg = f"{self._name} raised {type(error).__name__}: {error}"
            raise ProviderError(msg, cause="python") from error
        if isinstance(answer, Reply):
            return answer
        if isinstance(answer, str):
            latency = time.monotonic() - started
            return Reply(text=answer, usage=Usage(requests=1), latency=latency, created=time.time())
        msg = f"{self._name} returned {type(answer).__name__}; expected str or Reply"
        raise ProviderError(msg, cause="python")

    async def _call(self, request: Request) -> object:
        if inspect.iscoroutinefunction(self._function):
            return await self._function(request)
        answer = await run_in_thread(self._function, request)
        # A callable object or a partial does not tell beforehand that it is async.
        return await answer if inspect.isawaitable(answer) else answer

    async def close(self) -> None:
        """Nothing is held open."""
