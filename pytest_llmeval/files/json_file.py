"""Reading of files that hold one JSON object."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, TypeVar

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json, Record
from pytest_llmeval.safety.regular_files import read_regular

MAX_BYTES: Final = 2**30
"""Bytes of such a file at most: a summary of 100,000 samples has a tenth of it."""

_Record = TypeVar("_Record", bound=Record)


def read_json(path: Path) -> dict[str, Json]:
    """Return the JSON object in a file.

    Raises:
        UsageError: the file cannot be read, is not JSON, or holds another value than an object;
            the message names the file.
    """
    try:
        data = json.loads(read_regular(path, max_bytes=MAX_BYTES))
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror or error}"
        raise UsageError(msg) from error
    except (ValueError, RecursionError) as error:
        msg = f"{path}: not JSON: {error}"
        raise UsageError(msg) from error
    if not isinstance(data, dict):
        msg = f"{path}: holds a JSON {type(data).__name__}, not an object"
        raise UsageError(msg)
    return data


def record_in(path: Path, kind: type[_Record], data: Json) -> _Record:
    """Return the record of class `kind` whose JSON form `data` was read from the file `path`.

    Raises:
        UsageError: the data do not fit the record; the message names the file and the field.
    """
    try:
        return kind.from_json(data)
    except ValueError as error:
        msg = f"{path}: {error}"
        raise UsageError(msg) from error
