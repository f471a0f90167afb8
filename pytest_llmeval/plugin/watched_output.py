"""What pytest writes, watched, so that lines of ours come between and beneath it, never into it.

All that Python writes to a stream goes through the method `write` of its object: pytest's reporter,
``print`` under ``-s``, pdb. It is replaced there, since pytest and others hold the object itself.

The line beneath stands one row below the cursor, which stays where pytest's output ends:

- drawn: clear the rest of the cursor's row; index (one row down, which scrolls if need be), up,
  save the cursor, down; text, clear to the end of the screen; restore the cursor
- erased: the same without a text, before a write leaves the cursor's row

So what is written meanwhile by others, such as a keyboard's echo, also stands in its place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import RLock
from typing import Final, TextIO

from rich.cells import cell_len

_BELOW: Final = "\x1b[K\x1bD\x1b[A\x1b7\x1b[B\r\x1b[0m"
# Not at the cursor: in the corner of the screen tmux takes that for a wish to keep what was there.
_BACK: Final = "\x1b[J\x1b8"
_ERASE: Final = _BELOW + _BACK
_LEAST_ROWS: Final = 3
_STYLE: Final = re.compile(r"\x1b\[[0-9;]*m")


class WatchedOutput:
    """The output of pytest on one terminal, or in one file.

    Any thread may write. In a fork, and where pytest captures what a stream takes, writes pass
    unchanged.
    """

    def __init__(self, streams: Sequence[TextIO]) -> None:
        """Watch streams that all write to one place; none may be captured now.

        Raises:
            OSError: the first stream has no file descriptor.
        """
        self._streams, self._encoding = tuple(dict.fromkeys(streams)), streams[0].encoding
        self._fd, self._pid = os.dup(streams[0].fileno()), os.getpid()
        self._is_terminal = os.isatty(self._fd)
        self._lock = RLock()
        self._column: int | None = 0
        self._text, self._drawn = "", False
        self._is_ours = self._ended_row = False
        for stream in self._streams:
            write = partial(self._write, stream, stream.write)
            setattr(stream, "write", write)  # noqa: B010 - mypy lets nobody assign to a method

    @property
    def width(self) -> int:
        """Columns of the terminal."""
        return self._size()[0]

    def draw(self, text: str) -> None:
        """Show `text`, which must be narrower than the terminal, beneath the output; "" erases."""
        with self._lock:
            self._text = text
            if text:
                self._put(self._drawing())
            else:
                self._erase()

    @contextmanager
    def whole_line(self) -> Iterator[bool]:
        """Let this thread write a line of ours; yields whether it must end a row of pytest's first.

        The line reaches the output also while pytest captures it. If it ended a row, the line break
        with which pytest ends that row next is left out.
        """
        with self._lock:
            self._erase()
            within = self._column != 0
            ended_row, self._is_ours = within or self._ended_row, True
            try:
                yield within
            finally:
                self._is_ours, self._ended_row = False, ended_row
                self._put(self._drawing())

    def close(self) -> None:
        """Erase the line, and watch no more."""
        with self._lock:
            self.draw("")
            for stream in self._streams:
                delattr(stream, "write")
            os.close(self._fd)
            self._streams = ()

    def _write(self, stream: TextIO, write: Callable[[str], int], text: str) -> int:
        if os.getpid() != self._pid:
            return write(text)
        with self._lock:
            if not (self._is_ours or self._reaches(stream)):
                return write(text)
            ended = self._ended_row and not self._is_ours and text.startswith("\n")
            shown = text[1:] if ended else text
            after = self._after(shown)
            if self._is_ours:
                self._put(shown)
            elif not self._drawn or self._stays_in_row(shown, after):
                write(shown)
            else:
                write(_ERASE + shown)
                self._drawn = False
            self._column, self._ended_row = after, self._ended_row and not text
            if not self._is_ours:
                stream.flush()
                if not self._drawn:
                    self._put(self._drawing())
            return len(text)

    def _reaches(self, stream: TextIO) -> bool:
        """Return whether what a stream takes is not captured."""
        try:
            return os.path.sameopenfile(stream.fileno(), self._fd)
        except (OSError, ValueError):
            return False

    def _after(self, text: str) -> int | None:
        """Return the column after `text`, counted over wrapped rows; None if it is not known."""
        _, ended, last = text.rpartition("\n")
        start = 0 if ended else self._column
        plain = _STYLE.sub("", last)
        # After a carriage return a row goes on to the right of the cursor, and would be erased.
        if start is None or not plain.isprintable():
            return None
        column = start + cell_len(plain)
        # A wide character that does not fit leaves a cell empty at the end of a row.
        wraps_oddly = column >= self.width and cell_len(plain) != len(plain)
        return None if wraps_oddly else column

    def _stays_in_row(self, text: str, after: int | None) -> bool:
        if "\n" in text or after is None or self._column is None:
            return False
        # A cursor behind the last column is not where terminals say it is; see `_drawing`.
        return after // self.width == self._column // self.width

    def _drawing(self) -> str:
        """Return what draws the line; "" where it cannot be.

        A terminal whose last column was just filled wraps with the next character; to move the
        cursor would undo that.
        """
        width, rows = self._size()
        if not self._text or not self._is_terminal or rows < _LEAST_ROWS or self._column is None:
            return ""
        if self._column and self._column % width == 0:
            return ""
        self._drawn = True
        return f"{_BELOW}{self._text}{_BACK}"

    def _erase(self) -> None:
        if self._drawn:
            self._put(_ERASE)
            self._drawn = False

    def _put(self, text: str) -> None:
        """Write to the terminal or the file itself; UnicodeEncodeError as a stream raises it."""
        rest = text.encode(self._encoding)
        while rest:
            rest = rest[os.write(self._fd, rest) :]

    def _size(self) -> tuple[int, int]:
        """Return columns and rows; those of a terminal that does not tell are usual ones."""
        size = os.get_terminal_size(self._fd) if self._is_terminal else os.terminal_size((0, 0))
        return size.columns or 80, size.lines or 24
