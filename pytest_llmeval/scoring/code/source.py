"""The text of a program made ready to run, in the process that runs it."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Sequence
from types import CodeType, TracebackType
from typing import Final

FILE: Final = "program.py"
"""The program's name in tracebacks, which show its lines."""

_FRAMES: Final = 20
"""Frames of a traceback, the last ones."""


def compiled(texts: Sequence[str]) -> CodeType:
    """Return the code of the first of several texts that is Python.

    Raises:
        SyntaxError, ValueError, MemoryError, RecursionError: none is; what is told of the last.
    """
    for text in texts:
        linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
        try:
            return compile(text, FILE, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            if text is texts[-1]:
                raise
    msg = "there is no text"
    raise ValueError(msg)


def tell(error: BaseException) -> None:
    """Write an exception of the program to standard error, with the program's part of its way."""
    traceback.print_exception(type(error), error, _inside(error.__traceback__), limit=-_FRAMES)


def _inside(trace: TracebackType | None) -> TracebackType | None:
    """Return the part of a traceback that begins in the program; None if nothing of it does."""
    while trace is not None and trace.tb_frame.f_code.co_filename != FILE:
        trace = trace.tb_next
    return trace
