"""Templates and expressions in a child process that is limited in time and memory.

A few characters of jinja2 can demand any time and memory (``{{ 'a'|center(10**10) }}``), already
when they are compiled. So whatever is not known to be harmless is compiled and run in a child,
which is killed at its limits, and stays for the next template otherwise.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from pytest_llmeval.files.child_pool import ChildEndedError, ChildPool

MEMORY_MB: Final = 512
"""Memory of the child at most (address space; macOS does not limit it)."""

CPU_SECONDS: Final = 3
"""Processor time of one request at most."""

WALL_SECONDS: Final = 60.0
"""Wall time of one request at most, for a machine that is busy."""

MAX_CHARACTERS: Final = 10_000_000
"""Characters of a rendered template at most."""

MAX_REPLY: Final = 20 * MAX_CHARACTERS
"""Bytes of one row's reply at most; JSON writes a character beyond 16 bits as 12."""


class TemplateLimitError(Exception):
    """A template or an expression exceeded a limit; the message names the limit."""


@dataclass(frozen=True, slots=True)
class RowFailure:
    """A failure for one row.

    Attributes:
        kind: the exception's class, such as ``UndefinedError``.
        message: its message.
        line: line of the template, from 1.
    """

    kind: str
    message: str
    line: int


def run_limited(
    kind: Literal["template", "expression"], text: str, rows: Sequence[Mapping[str, Any]]
) -> list[str | bool | RowFailure]:
    """Return for each row the rendered template, or whether the expression is true.

    Args:
        kind: what `text` is.
        text: the jinja2 text.
        rows: the values of its variables.

    Raises:
        TemplateLimitError: the rows together took more than the time allowed.
    """
    try:
        request = pickle.dumps((kind, text, [dict(row) for row in rows]))
        replies = _pool().ask(request, replies=len(rows))
    except ChildEndedError:
        msg = f"takes more than {CPU_SECONDS} s; make it simpler"
        raise TemplateLimitError(msg) from None
    return [
        reply["ok"]
        if "ok" in reply
        else _out_of_memory()
        if reply["failed"] == "MemoryError"
        else RowFailure(reply["failed"], reply["message"], reply["line"])
        for reply in map(json.loads, replies)
    ]


@cache
def _pool() -> ChildPool:
    """Return the child of this process; one request at a time."""
    return ChildPool(
        Path(__file__).with_name("worker.py"),
        (MEMORY_MB, CPU_SECONDS, MAX_CHARACTERS),
        processes=1,
        wall_seconds=WALL_SECONDS,
        max_reply=MAX_REPLY,
    )


def _out_of_memory() -> RowFailure:
    message = f"it takes more than {MEMORY_MB} MB of memory; make it simpler"
    return RowFailure("MemoryError", message, 1)
