"""Files of JSON lines, which remain readable when the writing process is killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json
from pytest_llmeval.regular_files import check_regular, open_regular, regular_lines


def json_line(data: Json) -> str:
    """Return one line of JSON without a line break.

    It is ASCII, because U+2028 or a lone surrogate could break the line.

    Raises:
        ValueError: the data contain NaN or an infinity.
    """
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


def open_lines(path: Path) -> BinaryIO:
    """Open a file for appending after its last complete line.

    An incomplete last line, left by a killed process, is removed.
    """
    if path.exists():
        check_regular(path)
    file = path.open("ab")
    with open_regular(path) as reader:
        lines = regular_lines(reader, path)
        file.truncate(sum(len(line) for line in lines if line.endswith(b"\n")))
    return file


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
