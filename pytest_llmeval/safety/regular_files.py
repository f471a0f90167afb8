"""The one way to read a file: regular files only, and not beyond the size that they have.

A path may come from a task, a dataset, an option or a stored run. Opening a FIFO would wait for
ever, reading a device might never end, and a file may grow while it is read.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

KINDS: Final[Mapping[int, str]] = MappingProxyType(
    {
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a FIFO",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
)
"""What is not a regular file, by the type in its mode."""

MAX_LINE: Final = 256 * 2**20
"""Bytes of one line at most, in files that are read line by line."""

_PIECE: Final = 1 << 20


def check_regular(path: Path | str, *, max_bytes: int | None = None) -> int:
    """Return the size of a regular file, without opening it; links are followed.

    Raises:
        OSError: there is no such file, it is not a regular one, or it has more than `max_bytes`;
            `strerror` says so.
    """
    found = os.stat(path)  # noqa: PTH116 - thousands of pictures; pathlib takes three times as long
    _refuse_others(found, path)
    if max_bytes is not None and found.st_size > max_bytes:
        reason = f"it has {found.st_size:,} bytes; at most {max_bytes:,} are read"
        raise OSError(errno.EFBIG, reason, str(path))
    return found.st_size


def open_regular(
    path: Path | str, *, max_bytes: int | None = None, start: int = 0
) -> io.BufferedReader:
    """Open a regular file for reading from the byte `start` up to the size that it has now.

    Raises:
        OSError: as `check_regular`, or the file cannot be opened.
    """
    # Looked at before it is opened, because opening a device may have an effect.
    check_regular(path, max_bytes=max_bytes)
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        _refuse_others(found, path)
        if start:
            os.lseek(descriptor, start, os.SEEK_SET)
        most = found.st_size if max_bytes is None else max_bytes + 1
        raw = _UpTo(descriptor, max(0, most - start))
    except BaseException:
        os.close(descriptor)
        raise
    return io.BufferedReader(raw, buffer_size=1 << 17)


def read_regular(path: Path | str, *, max_bytes: int) -> bytes:
    """Return the bytes of a regular file.

    Raises:
        OSError: as `open_regular`; also for a file without a size (as in /proc) or one that grows,
            if it has more than `max_bytes`.
    """
    with open_regular(path, max_bytes=max_bytes) as stream:
        # In pieces: read(n) reserves n bytes before it knows how many there are.
        data = b"".join(iter(partial(stream.read, _PIECE), b""))
    if len(data) > max_bytes:
        reason = f"it has more than {max_bytes:,} bytes; no more are read"
        raise OSError(errno.EFBIG, reason, str(path))
    return data


def regular_lines(stream: io.BufferedReader, path: Path | str) -> Iterator[bytes]:
    """Yield the lines of an opened file; OSError for one of more than MAX_LINE bytes."""
    while line := stream.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            reason = f"it has a line of more than {MAX_LINE:,} bytes"
            raise OSError(errno.EFBIG, reason, str(path))
        yield line


def _refuse_others(found: os.stat_result, path: Path | str) -> None:
    if stat.S_ISREG(found.st_mode):
        return
    kind = KINDS.get(stat.S_IFMT(found.st_mode), "something else")
    code = errno.EISDIR if stat.S_ISDIR(found.st_mode) else errno.EINVAL
    reason = f"it is {kind}, not a regular file"
    raise OSError(code, reason, str(path))


class _UpTo(io.RawIOBase):
    """A file of which at most a number of bytes is read."""

    def __init__(self, descriptor: int, most: int) -> None:
        self._file, self._left = io.FileIO(descriptor), most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int | None:  # type: ignore[override]
        count = self._file.readinto(memoryview(buffer)[: self._left])
        self._left -= count or 0
        return count

    def close(self) -> None:
        self._file.close()
        super().close()
