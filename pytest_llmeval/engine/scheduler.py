"""The scheduler: runs solvers ahead of the tests, within a window, and hands their completions over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pytest_llmeval.engine.lookahead import LookAhead
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import LLMEvalError, RunStopped
from pytest_llmeval.records import Completion


@dataclass(frozen=True, slots=True)
class _Job:
    task: asyncio.Task[Completion]
    ticket: Ticket


class Scheduler:
    """Keeps at most `window` samples started and not yet handed over, besides those that a test waits for."""

    def __init__(
        self,
        count: int,
        run: Callable[[int, Ticket], Awaitable[Completion]],
        *,
        window: int,
        fatal: Callable[[LLMEvalError], bool],
    ) -> None:
        """Schedule positions 0..count-1 of a plan; `run` makes one sample's completion.

        `fatal` tells which failures of a sample leave no other sample anything to hope for.
        """
        self._run, self._window, self._fatal = run, window, fatal
        self._ahead = LookAhead(count)
        self._jobs: dict[int, _Job] = {}
        self._end: LLMEvalError | None = None
        self._end_told = False

    @property
    def ahead(self) -> int:
        """How many samples are started or finished and not yet handed over."""
        return len(self._jobs)

    async def completion(self, worker: str, position: int) -> Completion:
        """Return the completion that a worker's test waits for; it goes before all that nobody waits for.

        Asked again (a rerun), the solver runs again; what it asked before comes from the store.
        After the end, what was finished can still be had; for the rest, the first who asks is told
        why and all others are told RunStopped.
        """
        self._ahead.asked(worker, position)
        job = self._jobs.get(position)
        if job is None:
            if self._end is not None:
                raise self._ending()
            job = self._start(position)
        job.ticket.urgent = True
        self._fill()
        try:
            return await asyncio.shield(job.task)
        except asyncio.CancelledError:
            if not job.task.cancelled():
                raise
            raise self._ending() from None
        finally:
            if self._jobs.get(position) is job:
                del self._jobs[position]
            self._fill()

    def discard(self, position: int) -> None:
        """Give up a test that is over.

        Its solver goes no further; what it has in flight still reaches the store.

        What somebody waits for goes on: a rerun can ask before the end of its last attempt is told
        here.
        """
        self._ahead.take(position)
        if (job := self._jobs.get(position)) is not None and not job.ticket.urgent:
            del self._jobs[position]
            job.task.cancel()
        self._fill()

    async def stop(self, reason: LLMEvalError) -> None:
        """Start nothing more, cancel what runs, and raise RunStopped in all who wait or ask."""
        tasks = [job.task for job in self._jobs.values()]
        self._halt(reason)
        await asyncio.gather(*tasks, return_exceptions=True)

    def _start(self, position: int) -> _Job:
        ticket = Ticket(order=position)
        job = _Job(asyncio.create_task(self._complete(position, ticket)), ticket)
        # A sample that fails before its test asks must not be reported as an error nobody fetched.
        job.task.add_done_callback(lambda task: task.cancelled() or task.exception())
        self._jobs[position] = job
        return job

    async def _complete(self, position: int, ticket: Ticket) -> Completion:
        try:
            return await self._run(position, ticket)
        except LLMEvalError as error:
            if not self._fatal(error):
                raise
            self._halt(error)
            # It ends like those it takes along, so that one test alone is told the failure,
            # whichever asks first.
            raise asyncio.CancelledError from None

    def _halt(self, reason: LLMEvalError) -> None:
        self._end = self._end or reason
        for job in self._jobs.values():
            job.task.cancel()

    def _ending(self) -> LLMEvalError:
        """Return what to raise for a sample that was cancelled or never begun."""
        if self._end is None:
            return LLMEvalError("the solver was cancelled from within")
        if self._end_told:
            return RunStopped(str(self._end))
        self._end_told = True
        return self._end

    def _fill(self) -> None:
        while (
            self._end is None
            and len(self._jobs) < self._window
            and (position := self._ahead.next()) is not None
        ):
            self._start(position)
