"""What to say about a request that a recording does not hold."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final, cast

from pytest_llmeval.engine.replies.stored_reply import StoredReply
from pytest_llmeval.records import Json, Request

MAX_TOLD: Final = 10
"""Misses that show the nearest recorded request; finding it reads the whole recording."""

MAX_DIFFERENCES: Final = 3
"""Differences that one message shows."""

_WINDOW: Final = 80
"""Characters that are shown of each side of a difference."""


class MissReport:
    """Finds, for requests that a recording lacks, the most similar recorded one."""

    def __init__(self, file: Path, lines: Collection[StoredReply]) -> None:
        """Take the recording's file, for messages, and its lines."""
        self._file, self._lines, self._misses = file, lines, 0

    def problem(self, request: Request) -> str:
        """Return the message for a missing request; after MAX_TOLD of them a short one."""
        self._misses += 1
        shown = self._misses <= MAX_TOLD
        more = self._nearest(request) if shown else "the misses before it tell more"
        return f"{self._file}: no recorded reply to this request; {more}"

    def _nearest(self, request: Request) -> str:
        if not self._lines:
            return "the recording is empty"
        # As JSON gives it back, so that tuples and lists compare equal.
        wanted = cast("dict[str, Json]", json.loads(json.dumps(request.content)))
        words = _words(wanted)

        def similarity(line: StoredReply) -> float:
            other = _words(line.content)
            return len(words & other) / len(words | other)

        nearest = max(self._lines, key=similarity)
        differences = list(_differences(wanted, nearest.content))
        if not differences:
            return f"it was recorded for the role {nearest.role!r}, not for {request.role!r}"
        shown = "; ".join(differences[:MAX_DIFFERENCES])
        more = len(differences) - MAX_DIFFERENCES
        return f"the nearest one differs in {shown}" + (f"; and {more} more" if more > 0 else "")


def _words(content: dict[str, Json]) -> set[str]:
    return set(json.dumps(content, sort_keys=True, ensure_ascii=False).split())


def _differences(wanted: Json, recorded: Json, place: str = "") -> Iterator[str]:
    """Yield the differences of two values, each with the path to it and both sides."""
    if isinstance(wanted, dict) and isinstance(recorded, dict):
        for name in sorted(wanted.keys() | recorded.keys()):
            path = f"{place}.{name}" if place else name
            if name not in wanted or name not in recorded:
                yield f"{path}: asked {_member(wanted, name)}, recorded {_member(recorded, name)}"
            else:
                yield from _differences(wanted[name], recorded[name], path)
    elif isinstance(wanted, list) and isinstance(recorded, list) and len(wanted) == len(recorded):
        for index, (one, other) in enumerate(zip(wanted, recorded, strict=True)):
            yield from _differences(one, other, f"{place}[{index}]")
    elif wanted != recorded:
        yield f"{place}: asked {_both_sides(wanted, recorded)}"


def _member(parent: dict[str, Json], name: str) -> str:
    return json.dumps(parent[name], ensure_ascii=False)[:_WINDOW] if name in parent else "without"


def _both_sides(wanted: Json, recorded: Json) -> str:
    """Return two values: whole if they are short, else from shortly before they differ."""
    one, two = (
        json.dumps(value, sort_keys=True, ensure_ascii=False) for value in (wanted, recorded)
    )
    if max(len(one), len(two)) <= _WINDOW:
        return f"{one}, recorded {two}"
    start = next(
        (i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b),
        min(len(one), len(two)),
    )
    window = slice(max(0, start - _WINDOW // 4), start + _WINDOW * 3 // 4)
    return f"…{one[window]}…, recorded …{two[window]}… (from character {start} on)"
