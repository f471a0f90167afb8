"""The long texts of rows: left out of memory, and read back from the file of rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json, Record, Row, RowKey
from pytest_llmeval.records.score import OPINIONS
from pytest_llmeval.results.targets import answer_digest
from pytest_llmeval.safety.regular_files import check_regular

_Record = TypeVar("_Record", bound=Record)

Whole: TypeAlias = Callable[[Row], Row]
"""Returns a row with all its texts."""

Kept: TypeAlias = Callable[[Row], Row]
"""Returns what of a row is kept in memory."""

SHORT: Final = 200
"""Characters of a text in a row's details that is kept in memory, at most."""


def lean(row: Row) -> Row:
    """Return a row without the texts that no figure of a run is computed of.

    These are the answer, of which the digest stays, all explanations, and of the details long texts
    and nested values. Metrics that are functions of the task may need them, and get whole rows.
    """
    return replace(
        row,
        answer=None if row.answer is None else answer_digest(row.answer),
        explanation="",
        details=_lean_details(row.details),
        scores=tuple(
            replace(score, explanation="", details=_lean_details(score.details))
            for score in row.scores
        ),
    )


def as_it_is(row: Row) -> Row:
    """Return a row that is whole already."""
    return row


def _lean_details(details: Mapping[str, Json]) -> Mapping[str, Json]:
    return {
        name: _lean_opinions(value) if name == OPINIONS else value
        for name, value in details.items()
        if name == OPINIONS or _is_short(value)
    }


def _lean_opinions(opinions: Json) -> Json:
    """Return the opinions of judges without their reasons: votes are what agreement is made of."""
    if not isinstance(opinions, list):
        return opinions
    return [
        {
            name: value
            for name, value in opinion.items()
            if _is_short(value) or (isinstance(value, list) and all(map(_is_short, value)))
        }
        if isinstance(opinion, dict)
        else opinion
        for opinion in opinions
    ]


def _is_short(value: Json) -> bool:
    if isinstance(value, str):
        return len(value) <= SHORT
    return not isinstance(value, list | dict)


class _Key(Record, frozen=True, kw_only=True):
    """The fields of a row's key."""

    test: str
    task: str
    sample: str
    model: str
    epoch: int


class RowTexts:
    """Reads rows again, one at a time, from a run's file of rows.

    The file is opened, and its lines are found, when the first row is asked for. Close it.
    """

    def __init__(self, path: Path) -> None:
        """Read from the file `path`, to which nothing is appended any more."""
        self._path = path
        self._file: BinaryIO | None = None
        self._places: dict[RowKey, int] = {}

    def whole(self, row: Row) -> Row:
        """Return a row as the file has it; `row` itself if it is not there.

        Raises:
            OSError, UsageError: the file cannot be read.
        """
        if self._file is None:
            check_regular(self._path)
            self._file = self._path.open("rb")
            self._places = self._found(self._file)
        place = self._places.get(row.key)
        if place is None:
            return row
        self._file.seek(place)
        return _decoded(self._file.readline(), Row, self._path)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _found(self, file: BinaryIO) -> dict[RowKey, int]:
        """Return where the last row of each key begins; a line that was cut off does not count."""
        places, place = dict[RowKey, int](), 0
        for line in file:
            if line.endswith(b"\n"):
                key = _decoded(line, _Key, self._path)
                places[RowKey(key.test, key.task, key.sample, key.model, key.epoch)] = place
            place += len(line)
        return places


def _decoded(line: bytes, kind: type[_Record], path: Path) -> _Record:
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.DecodeError:  # half a surrogate pair, or no row
        pass
    try:
        return kind.from_json(json.loads(line))
    except ValueError as error:
        msg = f"{path}: not a row: {error}"
        raise UsageError(msg) from error
