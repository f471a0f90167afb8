"""Files of JSON lines, to which a process appends until it ends or is killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json


def json_line(data: Json) -> str:
    """Return one line of JSON without its end.

    It is ASCII, so that no U+2028 and no lone surrogate can break the line. ValueError for NaN.
    """
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


def open_lines(path: Path) -> BinaryIO:
    """Open a file for appending behind its last whole line; a kill may have cut one off."""
    file = path.open("ab")
    with path.open("rb") as reader:
        file.truncate(sum(len(line) for line in reader if line.endswith(b"\n")))
    return file


def read_lines(path: Path, remarks: list[str]) -> Iterator[tuple[int, dict[str, Json]]]:
    """Yield number and object of each line; nothing if there is no such file.

    A last line without its end is left out, and `remarks` says so.

    Raises:
        UsageError: a line is no JSON; the message names file and line.
    """
    if not path.is_file():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
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
