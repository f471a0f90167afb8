"""Files of JSON lines, which remain readable when the writing process is killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar, cast

import msgspec

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json, Record
from pytest_llmeval.safety.regular_files import check_regular, open_regular, regular_lines

_Record = TypeVar("_Record", bound=Record)


def json_line(data: Json) -> str:
    """Return one line of JSON without a line break.

    It is ASCII, because U+2028 or a lone surrogate could break the line.

    Raises:
        ValueError: the data contain NaN or an infinity.
    """
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


def record_line(record: Record) -> str:
    """Return a record's JSON form as one line of ASCII, by the fastest way that its texts allow.

    Free JSON in it, such as the parameters of a request, has null in place of NaN and infinities.
    """
    try:
        text = msgspec.json.encode(record).decode()
    except (UnicodeEncodeError, OverflowError):  # half a surrogate pair; an integer of over 64 bits
        return json_line(record.to_json())
    return text if text.isascii() else json_line(record.to_json())


class LineFile:
    """A file that is appended to line by line, and consists of complete lines.

    When `append` returns, the operating system has the line: killing this process does not lose it.
    """

    def __init__(self, path: Path) -> None:
        """Open a file after its last complete line; OSError when that fails.

        An incomplete last line, left by a killed process or a full disk, is removed.
        """
        if path.exists():
            check_regular(path)
        with path.open("ab"), open_regular(path) as reader:
            lines = regular_lines(reader, path)
            self._size = sum(len(line) for line in lines if line.endswith(b"\n"))
        # Without a buffer, which after a failed write would hold a part of a line.
        self._file = path.open("ab", buffering=0)
        try:
            self._file.truncate(self._size)
        except BaseException:
            self._file.close()
            raise

    def append(self, line: str) -> None:
        """Append a line of ASCII text; OSError, and the file as before, when that fails.

        The file is also as before, or has the whole line, when a signal interrupts this.
        """
        data = f"{line}\n".encode("ascii")
        written = 0
        try:
            while written < len(data):
                written += self._file.write(data[written:] if written else data)
            self._size += len(data)
        except BaseException:
            # Nor can it be shortened, perhaps; whoever opens it next removes the part of a line.
            with suppress(OSError):
                self._file.truncate(self._size)
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_lines(path: Path, remarks: list[str]) -> Iterator[tuple[int, dict[str, Json]]]:
    """Yield the number (from 1) and the object of each line.

    A file that does not exist has no lines. An incomplete last line is left out.

    Args:
        path: the file.
        remarks: receives a sentence about an incomplete last line.

    Raises:
        UsageError: the file cannot be read, or a line is not JSON; the message names file and line.
    """
    for number, line in _whole_lines(path, remarks):
        try:
            yield number, cast("dict[str, Json]", json.loads(line.decode()))
        except ValueError as error:
            msg = f"{path}:{number}: not JSON: {error}"
            raise UsageError(msg) from error


def read_records(path: Path, kind: type[_Record]) -> Iterator[_Record]:
    """Yield the record of each line, in less time than by `read_lines`.

    A file that does not exist has no lines. An incomplete last line is left out.

    Raises:
        UsageError: the file cannot be read, or a line holds no such record; the message names file
            and line.
    """
    for number, line in _whole_lines(path, []):
        try:
            yield record_in_line(line, kind)
        except ValueError as error:
            msg = f"{path}:{number}: {error}"
            raise UsageError(msg) from error


def record_in_line(line: bytes, kind: type[_Record]) -> _Record:
    """Return the record in a line of JSON; ValueError if it holds none of this kind."""
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.DecodeError:  # half a surrogate pair, or no such record
        return kind.from_json(json.loads(line))


def _whole_lines(path: Path, remarks: list[str]) -> Iterator[tuple[int, bytes]]:
    """Yield the number (from 1) and the bytes of each line, as `read_lines` does."""
    if not path.is_file():
        return
    try:
        with open_regular(path) as file:
            for number, line in enumerate(regular_lines(file, path), start=1):
                if not line.endswith(b"\n"):
                    remarks.append(
                        f"{path.name}: line {number} was cut off when the run was killed, "
                        "and is left out"
                    )
                    return
                yield number, line
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror or error}"
        raise UsageError(msg) from error
