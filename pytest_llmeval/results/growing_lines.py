"""A file of JSON lines that is still written to, maybe by another machine, read as it grows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import msgspec

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Record
from pytest_llmeval.safety.regular_files import check_regular, open_regular, regular_lines

_Kind = TypeVar("_Kind", bound=Record)


class Placed(NamedTuple, Generic[_Kind]):
    """A record, and the byte in the file at which its line begins."""

    place: int
    record: _Kind


class GrowingLines(Generic[_Kind]):
    """Reads what was added to a file of JSON lines since the last time.

    Whoever writes it, and from where, need not be known: only the file's size is looked at. A last
    line without its end is left for the next time; so is one with a NUL, which a shared folder
    shows where bytes are still under way. Other lines that hold no such record are left out.

    Attributes:
        at: the byte up to which the file was read.
        wrong: number of lines that were left out.
    """

    def __init__(self, path: Path, kind: type[_Kind]) -> None:
        """Read records of a kind from the file `path`, which need not exist yet."""
        self._path, self._kind = path, kind
        self.at = self.wrong = 0

    def added(self) -> list[Placed[_Kind]]:
        """Return the records of the lines that were completed since the last call.

        Raises:
            OSError: the file cannot be read.
            UsageError: the file is shorter than it was, so it is another one.
        """
        if not self.at and not self._path.exists():
            return []
        if (size := check_regular(self._path)) < self.at:
            msg = f"{self._path}: is shorter than it was; it was replaced by another file"
            raise UsageError(msg)
        found: list[Placed[_Kind]] = []
        if size == self.at:
            return found
        with open_regular(self._path, start=self.at) as file:
            for line in regular_lines(file, self._path):
                if not line.endswith(b"\n") or b"\0" in line:
                    break
                record = decoded(line, self._kind)
                if record is None:
                    self.wrong += 1
                else:
                    found.append(Placed(self.at, record))
                self.at += len(line)
        return found


def decoded(line: bytes, kind: type[_Kind]) -> _Kind | None:
    """Return the record in a line, or in another JSON text; None if there is none."""
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:  # half a surrogate pair, which msgspec refuses
        return kind.from_json(json.loads(line))
    except (ValueError, RecursionError):
        return None


def line_at(path: Path, place: int) -> bytes:
    """Return the line that begins at a byte of a file.

    Raises:
        OSError: the file cannot be read.
        UsageError: no line begins there.
    """
    with open_regular(path, start=max(0, place - 1)) as file:
        begins = not place or file.read(1) == b"\n"
        line = next(regular_lines(file, path), b"") if begins else b""
    if not line.endswith(b"\n"):
        msg = f"{path.name}: no line begins at byte {place:,}"
        raise UsageError(msg)
    return line
