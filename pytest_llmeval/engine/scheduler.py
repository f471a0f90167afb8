"""The scheduler: runs solvers ahead of the tests, within a window, and hands their completions over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pytest_llmeval.engine.limits import Ticket
from pytest_llmeval.engine.lookahead import LookAhead
from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.records import Completion


@dataclass(frozen=True, slots=True)
class _Job:
    task: asyncio.Task[Completion]
    ticket: Ticket


class Scheduler:
    """Keeps at most `window` samples started and not yet handed over, besides those that a test waits for."""

    def __init__(self, count: int, run: Callable[[int, Ticket], Awaitable[Completion]], *, window: int) -> None:
        """Schedule positions 0..count-1 of a plan; `run` makes one sample's completion."""
        self._run, self._window = run, window
        self._ahead = LookAhead(count)
        self._jobs: dict[int, _Job] = {}
        self._abandoned: set[asyncio.Task[Completion]] = set()
        self._stopped: LLMEvalError | None = None

    @property
    def ahead(self) -> int:
        """How many samples are started or finished and not yet handed over."""
        return len(self._jobs)

    async def completion(self, worker: str, position: int) -> Completion:
        """Return the completion that a worker's test waits for; it goes before all that nobody waits for.

        Asked again (a rerun), the solver runs again; what it asked before comes from the store.
        """
        if self._stopped:
            raise self._stopped
        self._ahead.asked(worker, position)
        job = self._jobs.get(position) or self._start(position)
        job.ticket.urgent = True
        self._fill()
        try:
            return await asyncio.shield(job.task)
        except asyncio.CancelledError:
            if self._stopped and job.task.cancelled():
                raise self._stopped from None
            raise
        finally:
            self._jobs.pop(position, None)
            self._fill()

    def discard(self, position: int) -> None:
        """Give up the place of a test that ended without asking; what it has in flight still reaches the store."""
        self._ahead.take(position)
        job = self._jobs.pop(position, None)
        if job is not None and not job.task.done():
            self._abandoned.add(job.task)
            job.task.add_done_callback(self._abandoned.discard)
        self._fill()

    async def stop(self, reason: LLMEvalError) -> None:
        """Start nothing more, cancel what runs, and raise `reason` in all who wait or ask."""
        self._stopped = self._stopped or reason
        tasks = [*(job.task for job in self._jobs.values()), *self._abandoned]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _start(self, position: int) -> _Job:
        ticket = Ticket(order=position)
        job = _Job(asyncio.create_task(self._complete(position, ticket)), ticket)
        # A sample that fails before its test asks must not be reported as an error nobody fetched.
        job.task.add_done_callback(lambda task: task.cancelled() or task.exception())
        self._jobs[position] = job
        return job

    async def _complete(self, position: int, ticket: Ticket) -> Completion:
        return await self._run(position, ticket)

    def _fill(self) -> None:
        while not self._stopped and len(self._jobs) < self._window and (position := self._ahead.next()) is not None:
            self._start(position)
