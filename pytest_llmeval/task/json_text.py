"""A strict reader of JSON in dataset files: no repeated keys, no NaN, no infinities."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

from pytest_llmeval.errors import TaskError
from pytest_llmeval.files.yaml import read_text

MAX_BYTES = 2**30
"""Bytes of a dataset file at most: all rows are held in memory."""


def read_json(file: Path) -> Any:  # noqa: ANN401 - JSON from the outside
    """Return the value of a JSON file.

    Raises:
        TaskError: the file cannot be read or is not strict JSON; with file and line.
    """
    return parse_json(read_text(file, max_bytes=MAX_BYTES), file, 1)


def parse_json(text: str, file: Path, line: int) -> Any:  # noqa: ANN401 - JSON from the outside
    """Return the value of a JSON text.

    Args:
        text: the JSON.
        file: its source, for error messages.
        line: the line of `file` on which the text begins.

    Raises:
        TaskError: the text is not strict JSON; with file and line.
    """
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        problem = f"is not JSON: {error.msg} in column {error.colno}"
        raise TaskError(problem, file=file, line=line + error.lineno - 1) from None
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        problem = f"is not JSON: {reason}"
        # The decoder's hooks do not know the line, so it is known for a text of one line only.
        known = line if "\n" not in text.strip() else None
        raise TaskError(problem, file=file, line=known) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        repeated, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        msg = f"the key {repeated!r} is repeated in one object"
        raise ValueError(msg)
    return result


def _constant(name: str) -> NoReturn:
    msg = f"{name} is not a JSON number"
    raise ValueError(msg)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        msg = f"the number {text[:40]} is too large"
        raise ValueError(msg)
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_constant, parse_float=_finite
)
