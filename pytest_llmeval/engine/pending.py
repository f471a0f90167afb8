"""The answer to a wish that was sent: waited for by a thread, or awaited by a coroutine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any, Final, Generic, TypeVar

from pytest_llmeval.errors import LLMEvalError

_T = TypeVar("_T")
_S = TypeVar("_S")

_TICK: Final = 0.5
"""Seconds after which a thread that waits looks for signals that another thread took."""


class Pending(Generic[_T]):
    """The answer to a request that was already sent; like a future, but read in steps.

    The request is carried out even if nobody waits for the answer.

    Example: two answers in the time of one: ``first, second = send(a), send(b)``, then
    ``first.result(), second.result()``.
    """

    def __init__(
        self,
        answer: Future[Any],
        read: Callable[[], _T],
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        """Wait for `answer`.

        Args:
            answer: done when the answer is there.
            read: returns the answer, or raises its error, once it is there.
            meanwhile: called every 0.5 s by a thread that waits; work that is needed later anyway.
        """
        self._answer, self._read, self._meanwhile = answer, read, meanwhile

    def then(self, read: Callable[[Callable[[], _T]], _S]) -> Pending[_S]:
        """Return the same answer, read further.

        Args:
            read: gets what returns the answer or raises its error.
        """
        earlier = self._read
        return Pending(self._answer, lambda: read(earlier), self._meanwhile)

    def result(self) -> _T:
        """Return the answer, or raise its error; the thread waits."""
        __tracebackhide__ = True
        while not _is_done(self._answer, within=_TICK):
            self._meanwhile()
        return self._found()

    async def arrival(self) -> _T:
        """Return the answer, or raise its error; the coroutine waits, others go on."""
        __tracebackhide__ = True
        try:
            with suppress(Exception):
                await asyncio.wrap_future(self._answer)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not self._answer.cancelled() or task is None or task.cancelling():
                raise
        return self._found()

    def _found(self) -> _T:
        """Return the answer, or raise its error without the stack frames that led to it here.

        They are of the engine, and do not help who waits.
        """
        __tracebackhide__ = True
        try:
            return self._read()
        except LLMEvalError as error:
            raise error.with_traceback(None) from None


def _is_done(answer: Future[Any], *, within: float) -> bool:
    """Return whether a future is done or cancelled after at most `within` seconds."""
    # Not futures.wait, which does not return for a cancelled future.
    try:
        answer.exception(within)
    except TimeoutError:
        return False
    except CancelledError:
        return True
    return True
