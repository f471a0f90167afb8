"""Ctrl-C and SIGTERM: the first one ends the run, further ones do not break its end."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _pytest._code.code import ExceptionInfo, TracebackEntry

ONE_WISH = 1.0
"""Seconds within which further signals are one wish with the first."""

PATIENCE = 5.0
"""Seconds of the end after which a further signal ends the process at once."""

EXIT_STATUS = 130
"""Exit status of a process that Ctrl-C has ended at once, as shells have it."""


class Interruption:
    """Handles SIGINT, and on request SIGTERM, of a pytest process.

    A signal raises KeyboardInterrupt, as usual, until pytest ends the session. From then on, rows
    are written and workers ended, and an exception anywhere would lose the table and show a
    traceback: a signal makes the end hurry instead. One that comes later than PATIENCE seconds
    ends the process at once; its children notice that and end too.
    """

    def __init__(self, hurry: Callable[[], None] = lambda: None) -> None:
        """Change nothing yet; `hurry` is called when a signal comes during the end."""
        self._hurry = hurry
        self._raised: float | None = None
        self._ending: float | None = None
        self._before: dict[signal.Signals, object] = {}

    @property
    def installed(self) -> bool:
        """Whether SIGINT is handled here."""
        return signal.SIGINT in self._before

    def install(self, *, terminate: bool = False, ignored: bool = False) -> None:
        """Handle SIGINT, unless another plugin or program handles or ignores it.

        Outside the main thread, where Python forbids it, this has no effect.

        Args:
            terminate: handle SIGTERM likewise, so that it also ends the run in order.
            ignored: handle SIGINT also if it is ignored so far.
        """
        if threading.current_thread() is not threading.main_thread():
            return
        usual: list[object] = [signal.default_int_handler, *([signal.SIG_IGN] if ignored else [])]
        self._take(signal.SIGINT, usual)
        if terminate:
            self._take(signal.SIGTERM, [signal.SIG_DFL])

    def ending(self) -> None:
        """Note that pytest ends the session."""
        self._ending = self._ending or time.monotonic()

    def restore(self) -> None:
        """Restore the handlers from before."""
        while self._before:
            number, before = self._before.popitem()
            signal.signal(number, before)  # type: ignore[arg-type]  # what getsignal returned

    def _take(self, number: signal.Signals, usual: list[object]) -> None:
        before = signal.getsignal(number)
        if number not in self._before and before in usual:
            self._before[number] = before
            signal.signal(number, self._handle)

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._ending is None:
            if self._raised is None or now - self._raised > ONE_WISH:
                self._raised = now
                raise KeyboardInterrupt
        elif now - self._ending > PATIENCE:
            # Not by print, which the signal may have interrupted.
            stderr = sys.__stderr__.fileno() if sys.__stderr__ else 2
            below = b"\x1b[J" if os.isatty(stderr) else b""  # a line of progress may stand there
            os.write(stderr, below + b"\nllmeval: ended at once\n")
            os._exit(EXIT_STATUS)
        else:
            self._hurry()


def leave_out_lineless(interrupt: ExceptionInfo[BaseException]) -> None:
    """Leave out of an interrupt's traceback the frames that have no line.

    A signal may come at an instruction that Python made up, such as the first one of a
    comprehension. pytest's report of the interrupt ends with a TypeError there.
    """
    interrupt.traceback = interrupt.traceback.filter(_has_line)


def _has_line(entry: TracebackEntry) -> bool:
    try:
        return entry.lineno >= 0
    except TypeError:
        return False
