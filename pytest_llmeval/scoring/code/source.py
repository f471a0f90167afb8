"""The text of a program made ready to run, in the process that runs it."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from types import CodeType
from typing import Final

FILE: Final = "program.py"
"""The program's name in tracebacks, which show its lines."""


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
