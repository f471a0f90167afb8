"""The ``python/`` provider: a callable of the user's stands in for a model."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from dataclasses import replace

from pytest_llmeval.errors import LLMEvalError, ProviderError
from pytest_llmeval.records import Reply, Request


class PythonProvider:
    """Asks ``callable(request) -> str | Reply``, async or plain; a plain one runs in a thread."""

    def __init__(self, function: Callable[[Request], object], *, name: str) -> None:
        """Wrap `function`; `name` is how errors call it."""
        self._function, self._name = function, name

    async def send(self, request: Request) -> Reply:
        """Return the callable's reply; whatever it raises is a ProviderError of this sample."""
        started = time.monotonic()
        try:
            if inspect.iscoroutinefunction(self._function):
                answer = await self._function(request)
            else:
                answer = await asyncio.to_thread(self._function, request)
        except LLMEvalError:
            raise
        except Exception as error:
            msg = f"{self._name} raised {type(error).__name__}: {error}"
            raise ProviderError(msg, cause="python") from error
        if isinstance(answer, Reply):
            return answer
        if isinstance(answer, str):
            return replace(Reply(text=answer), latency=time.monotonic() - started)
        msg = f"{self._name} returned {type(answer).__name__}; expected str or Reply"
        raise ProviderError(msg, cause="python")

    async def close(self) -> None:
        """Nothing is held open."""
