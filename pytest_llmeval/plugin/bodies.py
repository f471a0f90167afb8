"""Runs tests that are coroutines; the next ones begin while one waits for the engine."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

import pytest

from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.plugin.ahead import arguments_ahead, following, may_begin
from pytest_llmeval.plugin.body_output import BodyOutput, apart
from pytest_llmeval.plugin.coroutines import runs_here
from pytest_llmeval.plugin.fixture_names import FIXTURES
from pytest_llmeval.plugin.parameters import waits
from pytest_llmeval.scoring.running import RUNNING
from pytest_llmeval.session.attempt import Attempt

_TICK: Final = 0.5
"""Seconds after which the loop looks for signals that another thread took."""

_CLEAN_UP: Final = 1.0
"""Seconds at most that cancelled bodies may take to clean up after themselves."""


class _Body:
    """A coroutine test: its attempt, its output, and its task once it has one.

    Attributes:
        attempt: the attempt at the test.
        output: what it prints.
        begun: whether its own code has begun.
        task: returns the exception that ended the body; None if it passed.
    """

    def __init__(self, attempt: Attempt) -> None:
        self.attempt, self.output, self.begun = attempt, BodyOutput(), False
        self.task: asyncio.Task[BaseException | None]


class Bodies:
    """The coroutine tests of one process, on an event loop in pytest's own thread.

    The loop runs while a coroutine test is called, and then for all bodies that have begun. So a
    body's code runs within some test's call, never beside pytest; what it asked goes on anyway.
    """

    def __init__(
        self,
        attempt: Callable[[pytest.Item], Attempt],
        *,
        most: int,
    ) -> None:
        """Run bodies.

        Args:
            attempt: makes a new attempt at a test.
            most: number of next tests of which bodies may have begun.
        """
        self._attempt, self._most = attempt, most
        self._made: asyncio.AbstractEventLoop | None = None
        self._early: dict[pytest.Item, _Body] = {}
        self._turn: _Body | None = None
        self._alarm = 0.0

    def taken(self, item: pytest.Item) -> Attempt | None:
        """Return the attempt of a test whose turn has come and whose body has begun, else None."""
        self._turn, body = None, self._early.pop(item, None)
        if body is None:
            return None
        if not body.begun:
            body.task.cancel()
            return None
        self._turn, body.attempt.early = body, False
        return body.attempt

    def run(self, item: pytest.Function, attempt: Attempt) -> None:
        """Run a test's body to its end, or only the rest of it.

        Raises:
            BaseException: what the body raised.
        """
        __tracebackhide__ = True
        body = self._turn
        if body is None or body.attempt is not attempt:
            names = item._fixtureinfo.argnames  # noqa: SLF001 - as pytest's own call
            arguments = {name: item.funcargs[name] for name in names}
            body = self._turn = _Body(attempt)
            body.task = self._loop.create_task(self._played(body, item, arguments))
        body.output.pass_on()
        self._begin_following(item)
        self._alarm = _alarm()
        try:
            with apart():
                self._loop.run_until_complete(self._ended(body.task))
        finally:
            # A time-out or Ctrl-C has interrupted it.
            self._end(body)
        if (raised := body.task.result()) is not None:
            raise raised

    def over(self) -> None:
        """Note that a test has ended; a body that was not called is cancelled."""
        if (body := self._turn) is not None:
            self._end(body)
            self._turn = None

    def close(self) -> None:
        """Cancel all bodies that have begun. Replies on their way to them are stored."""
        if self._made is None:
            return
        self._end(*self._early.values())
        self._early.clear()
        self._cancel(asyncio.all_tasks(self._loop))  # which bodies began, and did not await
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    @property
    def _loop(self) -> asyncio.AbstractEventLoop:
        if self._made is None:
            self._made = asyncio.new_event_loop()
        return self._made

    def _begin_following(self, item: pytest.Function) -> None:
        """Begin the bodies of the next tests that need nothing but what is there.

        A test with fixtures of its own, such as `monkeypatch`, may have changed what all see. So no
        other body begins while it is called, and no body of a later test begins before it.
        """
        alive = set(item.listchain())
        if arguments_ahead(item, alive) is None:
            return
        for test in following(item, self._most):
            alive &= set(test.listchain())
            if test in self._early or not isinstance(test, pytest.Function) or not runs_here(test):
                continue
            if (arguments := arguments_ahead(test, alive)) is None:
                return
            if may_begin(test):
                self._early[test] = body = _Body(self._attempt(test))
                body.attempt.early = True
                body.task = self._loop.create_task(self._begun(body, test, arguments))

    async def _begun(
        self, body: _Body, item: pytest.Function, others: Mapping[str, object]
    ) -> BaseException | None:
        """Play a body once its completion is there; without one it is left to its turn."""
        attempt, names = body.attempt, item._fixtureinfo.argnames  # noqa: SLF001 - as above
        if waits(item):
            try:
                await attempt.wait_ahead()
            except LLMEvalError:
                return None
        body.begun = True
        ours = {name: getattr(attempt, name) for name in names if name in FIXTURES}
        return await self._played(body, item, {**others, **ours})

    async def _played(
        self, body: _Body, item: pytest.Function, arguments: Mapping[str, Any]
    ) -> BaseException | None:
        """Run a body; return what it raised, for its turn."""
        __tracebackhide__ = True
        body.begun = True
        RUNNING.within(body.attempt)
        body.output.begin()
        try:
            call: Coroutine[Any, Any, object] = item.obj(**arguments)
            await call
        except (KeyboardInterrupt, GeneratorExit, asyncio.CancelledError):
            raise
        except BaseException as error:  # noqa: BLE001 - also SystemExit, pytest's skip and fail
            if not body.output.passes:
                self._restore_alarm()
            return error
        return None

    async def _ended(self, task: asyncio.Task[BaseException | None]) -> None:
        while not task.done():
            await asyncio.wait([task], timeout=_TICK)

    def _end(self, *bodies: _Body) -> None:
        """Cancel bodies that have not ended, and let them clean up after themselves."""
        self._cancel({body.task for body in bodies if not body.task.done()})
        for body in bodies:
            if body.task.done() and not body.task.cancelled():
                body.task.exception()  # retrieved, or asyncio logs it

    def _cancel(self, tasks: set[asyncio.Task[Any]]) -> None:
        for task in tasks:
            task.cancel()
        if tasks:
            self._loop.run_until_complete(asyncio.wait(tasks, timeout=_CLEAN_UP))

    def _restore_alarm(self) -> None:
        """Start the time-out of the test again whose turn it is.

        It has ended the body of another one, which blocked the thread.
        """
        if self._alarm and not _alarm():
            signal.setitimer(signal.ITIMER_REAL, self._alarm)


def _alarm() -> float:
    """Return the seconds until an alarm by which pytest-timeout ends a test; 0 without one."""
    return signal.getitimer(signal.ITIMER_REAL)[0] if hasattr(signal, "getitimer") else 0.0
