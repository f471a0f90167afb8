"""Records in a file of JSON lines, found by the key of their row and read when asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from sys import intern
from typing import TypeVar

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.json_lines import record_in_line
from pytest_llmeval.records import Record, RowKey
from pytest_llmeval.safety.regular_files import check_regular, open_regular, regular_lines

_Record = TypeVar("_Record", bound=Record)


class KeyedLines(Mapping[RowKey, _Record]):
    """The records of a run's file, such as rows or transcripts, by key.

    Only keys and places of lines are in memory; a record is read whenever it is asked for. Of
    several lines under one key the last counts, at the place where the key first stood. A line that
    was cut off does not count, and a file that is not there has no lines. The lines are found when
    the first record is asked for; later ones are not seen.
    """

    def __init__(self, path: Path, kind: type[_Record]) -> None:
        """Read records of a kind from the file `path`."""
        self._path = path
        self._kind = kind

    def __getitem__(self, key: RowKey) -> _Record:
        """Return the record; KeyError without one.

        Raises:
            OSError, UsageError: the file cannot be read.
        """
        if (place := self._places.get(key)) is None:
            msg = (
                f"{self._path.name} has no record under {key!r:.200}; a key is the `key` of one "
                f"of the run's rows, RowKey({', '.join(RowKey._fields)})"
            )
            raise KeyError(msg)
        with self._path.open("rb") as file:
            file.seek(place)
            return _decoded(file.readline(), self._kind, self._path)

    def __iter__(self) -> Iterator[RowKey]:
        """Yield the keys."""
        return iter(self._places)

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._places)

    def __contains__(self, key: object) -> bool:
        """Whether there is a record; it is not read."""
        return key in self._places

    def __repr__(self) -> str:
        """Return file and kind."""
        return f"{type(self).__name__}({str(self._path)!r}, {self._kind.__name__})"

    @cached_property
    def _places(self) -> Mapping[RowKey, int]:
        """Where the last line of each key begins."""
        places, place = dict[RowKey, int](), 0
        if not self._path.is_file():
            return places
        check_regular(self._path)
        with open_regular(self._path) as file:
            for line in regular_lines(file, self._path):
                if line.endswith(b"\n"):
                    places[_decoded(line, KeyLine, self._path).key] = place
                place += len(line)
        return places


class KeyLine(Record, frozen=True, kw_only=True):
    """The fields of a row's key."""

    test: str
    task: str
    sample: str
    model: str
    epoch: int

    @property
    def key(self) -> RowKey:
        """The key; texts that many rows share are one object."""
        return RowKey(
            intern(self.test), intern(self.task), self.sample, intern(self.model), self.epoch
        )


def _decoded(line: bytes, kind: type[_Record], path: Path) -> _Record:
    try:
        return record_in_line(line, kind)
    except ValueError as error:
        msg = f"{path}: {error}"
        raise UsageError(msg) from error
