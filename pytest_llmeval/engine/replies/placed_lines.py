"""Lines that are appended to a file, and read back from it in the order of their keys."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

_Key = TypeVar("_Key", bound=tuple[str, ...])


class PlacedLines(Generic[_Key]):
    """Lines of a file by key; in memory are keys and places.

    When `add` returns, the operating system has the line.
    """

    def __init__(self, file: Path) -> None:
        """Write lines into `file`, which is made; OSError when that fails."""
        self._file, self._stream = file, file.open("x+b")
        self._places: dict[_Key, tuple[int, int]] = {}
        self._size = 0

    def add(self, key: _Key, line: bytes) -> None:
        """Append a line with its end; of several under one key the last counts."""
        self._stream.write(line)
        self._stream.flush()
        self._places[key] = self._size, len(line)
        self._size += len(line)

    def move(self, file: Path) -> None:
        """Let the file take the place of another; further lines are appended to it there."""
        self._file.replace(file)
        self._file = file

    def close(self) -> None:
        """Write no line any more."""
        self._stream.close()

    def ordered(self) -> Iterator[bytes]:
        """Yield the line of each key, in the order of keys; before `close`."""
        descriptor = self._stream.fileno()
        for key in sorted(self._places):
            place, length = self._places[key]
            yield os.pread(descriptor, length, place)
