"""The engine: one thread with an event loop that runs solvers ahead of the tests, and the doors to it."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

from pytest_llmeval.errors import LLMEvalError, RunStopped

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_llmeval.engine.models import Gauge
    from pytest_llmeval.engine.run import Run
    from pytest_llmeval.engine.statistics import Effort
    from pytest_llmeval.records import Json

CLOSE_SECONDS = 10.0
"""How long closing may take before the process goes on without it (a server that does not let
go)."""


class Engine:
    """Owns the thread; everything else of the engine lives inside its loop.

    Nothing starts before the first `ask`: collecting costs no request, and a session without
    samples no thread.
    """

    def __init__(self, open_run: Callable[[], Run]) -> None:
        """Make the run by `open_run`, in the loop's thread, when somebody first asks."""
        self._open_run = open_run
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._run: Run | None = None
        self._over: list[str] = []
        self._stopped: str | None = None

    def ask(self, worker: str, want: str, arguments: dict[str, Json]) -> Future[Json]:
        """Return the future of an answer; `want` is one of `Run.answer`'s wishes.

        RunStopped once the engine is.
        """
        with self._lock:
            if self._stopped is not None:
                raise RunStopped(self._stopped)
            return asyncio.run_coroutine_threadsafe(
                self._answer(worker, want, arguments), self._loop or self._start()
            )

    @property
    def started(self) -> bool:
        """Whether anybody asked yet."""
        return self._thread is not None

    @property
    def gauge(self) -> Gauge | None:
        """How the calls stand, None before the run is open."""
        return None if self._run is None else self._run.gauge

    @property
    def effort(self) -> Effort | None:
        """What the calls came to, None when the run was never open."""
        return None if self._run is None else self._run.effort

    def discard(self, nodeid: str) -> None:
        """Say that a test is over, whether or not it asked; before the first wish this starts nothing."""
        with self._lock:
            if self._stopped is not None:
                return
            if self._loop is None:
                self._over.append(nodeid)
            else:
                self._loop.call_soon_threadsafe(self._discard, nodeid)

    def stop(self, reason: str, *, grace: float = 0.0) -> None:
        """Cancel what runs and close everything; who still waits gets RunStopped with the reason.

        Replies under way are waited for, at most `grace` seconds, and no longer once Ctrl-C is
        pressed.
        """
        with self._lock:
            self._stopped = self._stopped or reason
            if self._loop is None or self._thread is None:
                return
            closing = asyncio.run_coroutine_threadsafe(self._close(grace), self._loop)
        try:
            self._wait(closing, grace)
        except TimeoutError:
            closing.cancel()
        finally:
            with self._lock:
                if self._loop is not None:
                    self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(CLOSE_SECONDS)

    def _wait(self, closing: Future[None], grace: float) -> None:
        try:
            closing.result(grace + CLOSE_SECONDS)
        except KeyboardInterrupt:
            if self._loop is not None and self._run is not None:
                self._loop.call_soon_threadsafe(self._run.hurry)
            closing.result(CLOSE_SECONDS)

    def _start(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.new_event_loop()
        # A daemon, so that a hanging close can never keep pytest alive.
        thread = threading.Thread(target=self._serve, args=(loop,), name="llmeval", daemon=True)
        thread.start()
        self._loop, self._thread = loop, thread
        return loop

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            with self._lock:
                self._stopped = self._stopped or "the engine's thread ended"
                self._loop = None
            # Nobody may wait for ever, however the loop came to its end.
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    async def _answer(self, worker: str, want: str, arguments: dict[str, Json]) -> Json:
        if self._stopped is not None:
            raise RunStopped(self._stopped)
        if self._run is None:
            self._run = self._open()
        return await self._run.answer(worker, want, arguments)

    def _open(self) -> Run:
        """Return the run.

        If it cannot be had, the first who asks is told why; for all others the run has stopped.
        """
        try:
            run = self._open_run()
        except LLMEvalError as error:
            self._stopped = str(error)
            raise
        except Exception as error:
            self._stopped = f"the run could not begin: {type(error).__name__}: {error}"
            raise LLMEvalError(self._stopped) from error
        for nodeid in self._over:
            run.discard(nodeid)
        return run

    def _discard(self, nodeid: str) -> None:
        if self._run is None:
            self._over.append(nodeid)
        else:
            self._run.discard(nodeid)

    async def _close(self, grace: float) -> None:
        if self._run is not None:
            await self._run.close(self._stopped or "run stopped", grace=grace)
