"""The engine: one thread with an event loop that runs solvers ahead of the tests, and the doors to it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_llmeval.errors import LLMEvalError, RunStopped

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_llmeval.engine.models import Gauge
    from pytest_llmeval.engine.run import Run
    from pytest_llmeval.records import Json

T = TypeVar("T")

CLOSE_SECONDS = 10.0
"""How long closing may take before the process goes on without it (a server that does not let go)."""


class Engine:
    """Owns the thread; everything else of the engine lives inside its loop.

    Nothing starts before the first `ask`: collecting costs no request, and a session without samples no thread.
    """

    def __init__(self, open_run: Callable[[], Run]) -> None:
        """Make the run by `open_run`, in the loop's thread, when somebody first asks."""
        self._open_run = open_run
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._run: Run | None = None
        self._stopped: LLMEvalError | None = None

    def ask(self, worker: str, want: str, arguments: dict[str, Json]) -> Future[Json]:
        """Return the future of an answer; `want` is one of `Run.answer`'s wishes."""
        return self._submit(self._answer(worker, want, arguments))

    @property
    def started(self) -> bool:
        """Whether anybody asked yet."""
        return self._loop is not None

    @property
    def gauge(self) -> Gauge | None:
        """How the calls stand, None before the run is open."""
        return None if self._run is None else self._run.gauge

    def discard(self, nodeid: str) -> None:
        """Say that a test is over, whether or not it asked."""
        if self._run is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(self._run.discard, nodeid)

    def stop(self, reason: str) -> None:
        """Cancel what runs and close everything; who still waits gets RunStopped with the reason."""
        with self._lock:
            self._stopped = self._stopped or RunStopped(reason)
            loop, thread = self._loop, self._thread
        if loop is None or thread is None or not thread.is_alive():
            return
        closing = asyncio.run_coroutine_threadsafe(self._close(), loop)
        try:
            closing.result(CLOSE_SECONDS)
        except TimeoutError:
            closing.cancel()
        loop.call_soon_threadsafe(loop.stop)
        thread.join(CLOSE_SECONDS)

    def _submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        with self._lock:
            if self._stopped is not None:
                coroutine.close()
                raise self._stopped
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                # A daemon, so that a hanging close can never keep pytest alive.
                self._thread = threading.Thread(target=self._serve, args=(self._loop,), name="llmeval", daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    @staticmethod
    def _serve(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    async def _answer(self, worker: str, want: str, arguments: dict[str, Json]) -> Json:
        if self._run is None:
            self._run = self._open_run()
        return await self._run.answer(worker, want, arguments)

    async def _close(self) -> None:
        if self._run is not None:
            await self._run.close(self._stopped or RunStopped("run stopped"))
