"""The list of runs, kept up to date by looking at sizes and times of files."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import RowKey
from pytest_llmeval.results.growing_lines import GrowingLines
from pytest_llmeval.results.run_files import ROWS, RUN, SUMMARY
from pytest_llmeval.view.activity import Activity, State, stamp
from pytest_llmeval.view.run_line import (
    CountedRow,
    RunLine,
    line_of_rows,
    line_of_summary,
    read_head,
)
from pytest_llmeval.view.runs_folder import RunsFolder

_SLACK: Final = 5_000_000_000
"""Nanoseconds by which a summary of all rows may be older than they are (`Activity`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A run in the list: its name, its line, and how far it is.

    `age` is the number of seconds since the last news, `left` of those to come, if known.
    """

    name: str
    line: RunLine
    state: State
    age: float
    left: float | None


class Listing:
    """Reads the lines of all runs; of a run whose files did not change nothing is read again."""

    def __init__(self, folder: RunsFolder) -> None:
        """List the runs of a folder."""
        self.folder = folder
        self._known: dict[str, _Known] = {}
        self._lock = threading.Lock()

    def runs(self) -> list[Listed]:
        """Return the runs, the newest first."""
        with self._lock:
            names = self.folder.names()
            self._known = {name: self._known.get(name) or self._new(name) for name in names}
            listed = [one.listed() for one in self._known.values()]
        return sorted(listed, key=lambda one: (one.line.started or 0.0, one.name), reverse=True)

    def run(self, name: str) -> Listed:
        """Return one run; `Refused` if there is none."""
        self.folder.run(name)
        with self._lock:
            known = self._known.setdefault(name, self._new(name))
            return known.listed()

    def _new(self, name: str) -> _Known:
        folder = self.folder.path / name
        return _Known(folder=folder, activity=Activity(folder=folder))


@dataclass(slots=True, kw_only=True)
class _Known:
    """A run as it was read last; `stamps` are those of its files then."""

    folder: Path
    activity: Activity
    stamps: tuple[tuple[int, int], ...] = ()
    state: State = "running"
    line: RunLine = field(default_factory=RunLine)
    rows: dict[RowKey, CountedRow] = field(default_factory=dict)
    lines: GrowingLines[CountedRow] | None = None

    def listed(self) -> Listed:
        stamps = tuple(stamp(self.folder / name) for name in (RUN, ROWS, SUMMARY))
        if stamps != self.stamps:
            self.line, self.stamps, self.state = self._read(stamps), stamps, "running"
        # A run that ended is looked at again when one of these files changes.
        if self.state != "ended":
            self.state = self.activity.look(self.line.done, self.line.planned)
        state = self.state
        left = self.activity.left(self.line.planned) if state == "running" else None
        return Listed(
            name=self.folder.name, line=self.line, state=state, age=self.activity.age, left=left
        )

    def _read(self, stamps: tuple[tuple[int, int], ...]) -> RunLine:
        _, (_, rows_at), (_, summary_at) = stamps
        try:
            head = read_head(self.folder)
            if summary_at and rows_at - summary_at < _SLACK:
                line = line_of_summary(self.folder, head)
                if line.done >= line.planned:
                    self.rows, self.lines = {}, None
                    return line
            return line_of_rows(head, self._counted())
        except (UsageError, OSError) as error:
            return RunLine(problem=str(error))

    def _counted(self) -> list[CountedRow]:
        """Return the rows, of which only those that were added are read."""
        if self.lines is None:
            self.rows, self.lines = {}, GrowingLines(self.folder / ROWS, CountedRow)
        try:
            self.rows |= {one.record.key: one.record for one in self.lines.added()}
        except UsageError:  # another file in its place
            self.lines = None
            return self._counted()
        return list(self.rows.values())
