"""Files of JSON lines, which remain readable when the writing process is killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import cast

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json
from pytest_llmeval.safety.regular_files import check_regular, open_regular, regular_lines


def json_line(data: Json) -> str:
    """Return one line of JSON without a line break.

    It is ASCII, because U+2028 or a lone surrogate could break the line.

    Raises:
        ValueError: the data contain NaN or an infinity.
    """
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


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
        """Append a line of ASCII text; OSError, and the file as before, when that fails."""
        data = f"{line}\n".encode("ascii")
        written = 0
        try:
            while written < len(data):
                written += self._file.write(data[written:] if written else data)
        except OSError:
            # Nor can it be shortened, perhaps; whoever opens it next removes the part of a line.
            with suppress(OSError):
                self._file.truncate(self._size)
            raise
        self._size += len(data)

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
                try:
                    yield number, cast("dict[str, Json]", json.loads(line.decode()))
                except ValueError as error:
                    msg = f"{path}:{number}: not JSON: {error}"
                    raise UsageError(msg) from error
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror or error}"
        raise UsageError(msg) from error
