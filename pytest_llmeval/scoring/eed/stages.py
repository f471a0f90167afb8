"""Limits on the stages of a scoring, in seconds of CPU time: none in process, a timer in the worker."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType
from typing import TypeAlias

Stage: TypeAlias = Callable[[float], AbstractContextManager[None]]
"""Given a number of CPU seconds, guards a block that may raise StageExpired."""

_AGAIN = 0.5  # sympy may swallow the exception in a handler of its own; then the timer fires again


class StageExpired(BaseException):
    """A stage used up its CPU time. Not an Exception, so that handlers inside sympy let it pass."""


def unlimited(_seconds: float) -> AbstractContextManager[None]:
    """Guard nothing: what in-process scoring uses, because signals belong to the embedding program."""
    return nullcontext()


@contextmanager
def cpu_timer(seconds: float) -> Iterator[None]:
    """Raise StageExpired in the main thread after `seconds` of this process's CPU time.

    Stages do not nest.
    """
    if not hasattr(signal, "setitimer"):  # Windows: the wall limit alone
        yield
        return

    def expire(_number: int, _frame: FrameType | None) -> None:
        raise StageExpired

    previous = signal.signal(signal.SIGPROF, expire)
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
    finally:
        signal.signal(signal.SIGPROF, previous)
