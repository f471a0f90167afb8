"""The engine: a thread with an event loop, in which the run's solvers work ahead of the tests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial

from pytest_llmeval.engine.inbox import Inbox
from pytest_llmeval.engine.models import Gauge
from pytest_llmeval.engine.run import Run
from pytest_llmeval.engine.solved import Answer, Solved
from pytest_llmeval.engine.statistics import Effort
from pytest_llmeval.errors import LLMEvalError, RunStopped
from pytest_llmeval.records import Json
from pytest_llmeval.safety.printable import described

CLOSE_SECONDS = 10.0
"""Seconds that closing may take; then the process continues without it (a server may hang)."""


class Engine:
    """The thread of the event loop; all other parts of the engine run inside the loop.

    The thread starts with the first `ask`, so that a session that only collects tests starts no
    thread and sends no request. The methods may be called from any thread.

    Attributes:
        unopened: why the run could not be opened; None if it was, or if no test asked.
    """

    def __init__(self, open_run: Callable[[], Run]) -> None:
        """Start nothing yet; `open_run` makes the run, in the loop's thread, at the first `ask`."""
        self._open_run = open_run
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._inbox: Inbox | None = None
        self._thread: threading.Thread | None = None
        self._run: Run | None = None
        self._over: list[str] = []
        self._stopped: str | None = None
        self.unopened: str | None = None

    def ask(self, worker: str, want: str, arguments: dict[str, Json]) -> Future[Answer]:
        """Return the future of the answer to a wish; the arguments are those of `Run.answer`.

        A completion that is there already is answered at once, without waiting for the loop.

        Raises:
            RunStopped: the engine was stopped.
        """
        with self._lock:
            if self._stopped is not None:
                raise RunStopped(self._stopped)
            if want == "completion" and (solved := self._taken(worker, arguments)) is not None:
                answer = Future[Answer]()
                answer.set_result(solved)
                return answer
            return asyncio.run_coroutine_threadsafe(
                self._answer(worker, want, arguments), self._loop or self._start()
            )

    @property
    def started(self) -> bool:
        """Whether `ask` was called."""
        return self._thread is not None

    @property
    def gauge(self) -> Gauge | None:
        """The requests in flight and the usage so far; None before the run is open."""
        return None if self._run is None else self._run.gauge

    @property
    def effort(self) -> Effort | None:
        """The statistics of all calls; None if the run was never opened."""
        return None if self._run is None else self._run.effort

    def discard(self, nodeid: str) -> None:
        """Note that a test has ended, so that its sample is not solved any more.

        It does not start the thread, and does not wake it for a test that has asked for its
        completion.
        """
        with self._lock:
            if self._stopped is not None:
                return
            if self._inbox is None:
                self._over.append(nodeid)
            elif self._run is None or not self._run.was_asked(nodeid):
                self._inbox.post(partial(self._discard, nodeid))

    def end_test(self, test: str, reason: str) -> None:
        """Complete no further sample for a test function; see `Run.end_test`."""
        with self._lock:
            if self._stopped is None and self._loop is not None and self._run is not None:
                self._loop.call_soon_threadsafe(self._run.end_test, test, reason)

    def hurry(self) -> None:
        """Let `stop` not wait for replies in flight any more; may be called by a signal.

        It takes no lock, because the signal may have interrupted who holds it.
        """
        if (loop := self._loop) is not None and (run := self._run) is not None:
            with suppress(RuntimeError):  # the loop was closed meanwhile
                loop.call_soon_threadsafe(run.hurry)

    def end(self, reason: str) -> None:
        """Send nothing more, and raise RunStopped in waiting and later wishes; without waiting.

        Replies in flight are still stored, until `stop`.
        """
        with self._lock:
            self._stopped = self._stopped or reason
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._end, reason)

    def stop(self, reason: str, *, grace: float = 0.0) -> None:
        """Cancel all solvers, raise RunStopped in waiting tests, and end the thread.

        Args:
            reason: message of the RunStopped.
            grace: seconds at most to wait for replies in flight; Ctrl-C ends the wait.
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
            self.hurry()
            closing.result(CLOSE_SECONDS)

    def _start(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.new_event_loop()
        # A daemon, so that a hanging close can never keep pytest alive.
        thread = threading.Thread(target=self._serve, args=(loop,), name="llmeval", daemon=True)
        thread.start()
        self._loop, self._inbox, self._thread = loop, Inbox(loop), thread
        return loop

    def _taken(self, worker: str, arguments: dict[str, Json]) -> Solved | None:
        """Return the sample of a wish if it is solved already; the loop learns that it is taken."""
        if self._run is None or self._inbox is None:
            return None
        nodeid = str(arguments["nodeid"])
        if (solved := self._run.take(nodeid)) is not None:
            self._inbox.post(partial(self._run.taken, worker, nodeid))
        return solved

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            while not _runs_to_its_end(loop):
                pass
        finally:
            with self._lock:
                self._stopped = self._stopped or "the engine's thread ended"
                self._loop = self._inbox = None
            # Cancelled, so that no test waits for ever, even if the loop ended by an error.
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    async def _answer(self, worker: str, want: str, arguments: dict[str, Json]) -> Answer:
        if self._stopped is not None:
            raise RunStopped(self._stopped)
        if self._run is None:
            self._run = self._open()
        return await self._run.answer(worker, want, arguments)

    def _open(self) -> Run:
        """Return the run.

        If it cannot be opened, the first wish gets the error, and all later ones RunStopped.
        """
        try:
            run = self._open_run()
        except LLMEvalError as error:
            self._stopped = self.unopened = str(error)
            raise
        except BaseException as error:
            self.unopened = described(error)
            self._stopped = f"the run could not be started: {self.unopened}"
            raise LLMEvalError(self._stopped) from error
        for nodeid in self._over:
            run.discard(nodeid)
        return run

    def _discard(self, nodeid: str) -> None:
        if self._run is None:
            self._over.append(nodeid)
        else:
            self._run.discard(nodeid)

    def _end(self, reason: str) -> None:
        if self._run is not None:
            self._run.end(reason)

    async def _close(self, grace: float) -> None:
        if self._run is not None:
            await self._run.close(self._stopped or "run stopped", grace=grace)


def _runs_to_its_end(loop: asyncio.AbstractEventLoop) -> bool:
    """Run the loop until it is stopped; False if code of others interrupted it.

    asyncio lets a SystemExit or KeyboardInterrupt of a task end the loop. The task has it as its
    exception by then, and the other samples' tasks go on.
    """
    try:
        loop.run_forever()
    except (SystemExit, KeyboardInterrupt):
        return False
    return True
