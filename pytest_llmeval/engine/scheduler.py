"""The scheduler: it starts solvers ahead of the tests, within a window."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from pytest_llmeval.engine.lookahead import LookAhead
from pytest_llmeval.engine.solved import Solved
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import LLMEvalError, RunStopped


@dataclass(slots=True)
class _Job:
    """A sample that is being solved, or waits for its test.

    Attributes:
        task: returns the solved sample.
        ticket: the priority of its requests.
        taken: whether another thread has handed it over.
    """

    task: asyncio.Task[Solved]
    ticket: Ticket
    taken: bool = False

    @property
    def solved(self) -> Solved | None:
        """The solved sample; None before its end, and for one that failed."""
        task = self.task
        if not task.done() or task.cancelled() or task.exception() is not None:
            return None
        return task.result()


class Scheduler:
    """Runs solvers so that at most `window` samples are started and not yet handed over.

    A sample that a test waits for is started even if the window is full.
    """

    def __init__(
        self,
        count: int,
        run: Callable[[int, Ticket], Awaitable[Solved]],
        *,
        window: int,
        fatal: Callable[[LLMEvalError], bool],
    ) -> None:
        """Schedule a plan.

        Args:
            count: number of samples; positions are 0..count-1.
            run: solves the sample at a position.
            window: samples started and not yet handed over, at most.
            fatal: returns whether, after this failure of one sample, no other can be completed.
        """
        self._run, self._window, self._fatal = run, window, fatal
        self._ahead = LookAhead(count)
        self._jobs: dict[int, _Job] = {}
        self._asked = bytearray(count)
        self._awaited: dict[int, asyncio.Event] = {}
        self._end: LLMEvalError | None = None
        self._end_told = False

    @property
    def ahead(self) -> int:
        """Number of samples that are started or finished and not yet handed over."""
        return len(self._jobs)

    @property
    def ended(self) -> LLMEvalError | None:
        """Why the run has ended; None before its end."""
        return self._end

    async def completion(self, worker: str, position: int) -> Solved:
        """Return the solved sample at a position; its requests become urgent.

        For a second call (a rerun of the test) the solver runs again, with stored replies. After
        the end of the run, samples that are finished are still returned.

        Raises:
            LLMEvalError: the sample failed; after the end of the run, its cause, for the first
                caller only.
            RunStopped: the run has ended.
        """
        self._ahead.asked(worker, position)
        self._asked[position] = 1
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

    def take(self, position: int) -> Solved | None:
        """Return a solved sample that no test had yet; None if there is none. From any thread.

        The caller lets the event loop call `taken`; until then it counts as not handed over.
        """
        job = self._jobs.get(position)
        if job is None or job.taken or (solved := job.solved) is None:
            return None
        job.taken = True
        self._asked[position] = 1
        return solved

    def taken(self, worker: str, position: int) -> None:
        """Note what `take` returned for a worker's test, and start the next samples."""
        self._ahead.asked(worker, position)
        self._jobs.pop(position, None)
        self._fill()

    def was_asked(self, position: int) -> bool:
        """Return whether a test has asked for a sample, which `discard` then leaves as it is.

        From any thread.
        """
        return bool(self._asked[position])

    async def ahead_of_test(self, position: int) -> Solved:
        """Return a solved sample before its test asks; it stays among those not handed over.

        It is not started for this: the window alone says how far ahead samples are solved.

        Raises:
            LLMEvalError: the sample failed, as its test will be told too, or the run has ended.
        """
        while (job := self._jobs.get(position)) is None:
            if self._end is not None:
                raise RunStopped(str(self._end))
            await self._awaited.setdefault(position, asyncio.Event()).wait()
        try:
            return await asyncio.shield(job.task)
        except asyncio.CancelledError:
            if not job.task.cancelled():
                raise
            msg = "the sample was given up"
            raise RunStopped(msg) from None

    def discard(self, position: int) -> None:
        """Cancel the solver of a test that has ended; replies in flight are still stored.

        A solver that a test waits for continues, because a rerun may ask before the end of the
        attempt before it is reported.
        """
        self._ahead.take(position)
        if (job := self._jobs.get(position)) is not None and not job.ticket.urgent:
            del self._jobs[position]
            job.task.cancel()
        self._fill()

    def drop(self, positions: Iterable[int]) -> None:
        """Start none of these positions, and cancel those that no test waits for."""
        dropped = tuple(positions)
        for position in dropped:
            self._ahead.take(position)
        for position in dropped:
            self.discard(position)

    def halt(self, reason: LLMEvalError) -> None:
        """Cancel all solvers and start no others; waiting and later callers get `reason`."""
        self._end = self._end or reason
        self._tell(*self._awaited)
        for job in self._jobs.values():
            job.task.cancel()

    async def stop(self, reason: LLMEvalError) -> None:
        """Cancel all solvers as `halt` does, and wait for their end."""
        tasks = [job.task for job in self._jobs.values()]
        self.halt(reason)
        await asyncio.gather(*tasks, return_exceptions=True)

    def _start(self, position: int) -> _Job:
        ticket = Ticket(order=position)
        job = _Job(asyncio.create_task(self._complete(position, ticket)), ticket)
        # Retrieved: otherwise asyncio logs the exception of a sample that no test has asked for.
        job.task.add_done_callback(lambda task: task.cancelled() or task.exception())
        self._jobs[position] = job
        self._tell(position)
        return job

    def _tell(self, *positions: int) -> None:
        """Wake who waits for the start of samples."""
        for position in positions:
            if (event := self._awaited.pop(position, None)) is not None:
                event.set()

    async def _complete(self, position: int, ticket: Ticket) -> Solved:
        try:
            return await self._run(position, ticket)
        except LLMEvalError as error:
            if not self._fatal(error):
                raise
            self.halt(error)
            # Cancelled like all others: only the first test that asks raises the failure.
            raise asyncio.CancelledError from None

    def _ending(self) -> LLMEvalError:
        """Return what to raise for a sample that was cancelled or never started."""
        if self._end is None:
            return LLMEvalError("the solver cancelled its own asyncio task")
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
