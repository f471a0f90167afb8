"""Limits on the CPU time of a single step of a scoring: none in process, a timer in the worker."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType
from typing import TypeAlias

TimeLimit: TypeAlias = Callable[[float], AbstractContextManager[None]]
"""Given CPU seconds, returns a context whose block may raise TimeLimitExpired."""

_REPEAT_SECONDS = 0.5  # handlers inside sympy may swallow the exception; then it is raised again


class TimeLimitExpired(BaseException):
    """A step used up its CPU time; not an Exception, so that handlers inside sympy let it pass."""


def unlimited(_seconds: float) -> AbstractContextManager[None]:
    """Return a context without a limit, for scoring in process, where signals are the program's."""
    return nullcontext()


@contextmanager
def cpu_timer(seconds: float) -> Iterator[None]:
    """Raise TimeLimitExpired in the main thread after `seconds` of this process's CPU time.

    These contexts cannot be nested. Windows has no such timer, and the block runs without a limit.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return

    def expire(_number: int, _frame: FrameType | None) -> None:
        raise TimeLimitExpired

    previous = signal.signal(signal.SIGPROF, expire)
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds, _REPEAT_SECONDS)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
    finally:
        signal.signal(signal.SIGPROF, previous)
