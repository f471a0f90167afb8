"""What bodies print and log: each kept for its own test while several run at once."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Literal

_Name = Literal["stdout", "stderr"]


class BodyOutput:
    """The output of one body: kept until its test's turn, then passed on.

    Attributes:
        kept: texts with the name of their stream, and log records, in order.
        passes: whether it is the test's turn.
    """

    def __init__(self) -> None:
        """Keep everything for now."""
        self.kept: list[tuple[_Name, str] | logging.LogRecord] = []
        self.passes = False

    def begin(self) -> None:
        """Keep what is printed in the current context."""
        _OUTPUT.set(self)

    def pass_on(self) -> None:
        """Print and log what was kept, and keep nothing from now on."""
        self.passes = True
        for one in self.kept:
            if isinstance(one, logging.LogRecord):
                logging.getLogger().callHandlers(one)
            else:
                getattr(sys, one[0]).write(one[1])
        self.kept.clear()


_OUTPUT: ContextVar[BodyOutput | None] = ContextVar("llmeval output", default=None)


def _keeping() -> BodyOutput | None:
    """Return the output of the current body if its turn has not come."""
    output = _OUTPUT.get()
    return None if output is None or output.passes else output


@contextmanager
def apart() -> Iterator[None]:
    """Keep apart, within the block, what bodies print and log whose turn has not come."""
    streams = sys.stdout, sys.stderr
    ours = _Stream("stdout", streams[0]), _Stream("stderr", streams[1])
    handlers, router = list(logging.getLogger().handlers), _Records()
    sys.stdout, sys.stderr = ours
    for handler in handlers:
        handler.addFilter(router)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(router)
        # Not what a body or pytest has put in their place meanwhile.
        if sys.stdout is ours[0]:
            sys.stdout = streams[0]
        if sys.stderr is ours[1]:
            sys.stderr = streams[1]


class _Stream:
    """A text stream, but for what bodies write whose turn has not come."""

    def __init__(self, name: _Name, stream: Any) -> None:  # noqa: ANN401 - any text stream
        self._name: Final[_Name] = name
        self._stream = stream

    def write(self, text: str) -> int:
        if (output := _keeping()) is None:
            written: int = self._stream.write(text)
            return written
        output.kept.append((self._name, text))
        return len(text)

    def writelines(self, lines: Iterator[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the stream has
        return getattr(self._stream, name)


class _Records(logging.Filter):
    """Takes the log records of bodies whose turn has not come, once for all handlers."""

    def filter(self, record: logging.LogRecord) -> bool:
        if (output := _keeping()) is None:
            return True
        if not any(one is record for one in output.kept[-1:]):
            output.kept.append(record)
        return False
