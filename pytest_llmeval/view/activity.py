"""Whether a run goes on, told by its files alone: it may be written by another machine."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from pytest_llmeval.results.run_files import ROWS, RUN, SUMMARY, TRANSCRIPTS

State: TypeAlias = Literal["running", "ended", "cut off"]

QUIET: Final = 300.0
"""Seconds without news after which an unfinished run counts as cut off, until there is some."""

_SLACK: Final = 5.0
"""Seconds by which summary.json may be older than the rows: files are copied in any order."""

_WINDOW: Final = 180.0
"""Seconds over which the rate of rows is taken."""

_STEADY: Final = 5.0
"""Seconds of it at least, for a rate."""

_NEWS: Final = (RUN, ROWS, TRANSCRIPTS, "replies.sqlite3", "replies.sqlite3-wal")
"""Files that a run's session writes while it goes on; replies come well before their rows. Its
summary is not among them: `llmeval report` may write that of a run that was cut off long ago."""


@dataclass(slots=True, kw_only=True)
class Activity:
    """What was seen of a run's files, at several looks.

    Clocks of two machines differ. A change between two looks is timed by this machine's; only
    until one is seen, the age of the newest file is that by the clocks of both.

    Attributes:
        folder: of the run.
        clock: seconds of this machine, which never go back.
        wall: seconds since 1970 by this machine.
    """

    folder: Path
    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    _seen: tuple[tuple[int, int], ...] | None = None
    _age: float = 0.0
    _at: float = 0.0
    _done: deque[tuple[float, int]] = field(default_factory=deque)

    def look(self, done: int, planned: int) -> State:
        """Return the state of the run, which has `done` of `planned` rows by now."""
        stamps = {name: stamp(self.folder / name) for name in (*_NEWS, SUMMARY)}
        seen, now = tuple(stamps[name] for name in _NEWS), self.clock()
        if self._seen is None:
            age = self.wall() - max(time for _, time in seen) / 1e9
            # Of a file from the future nothing is known: it may be new.
            self._age, self._at = max(0.0, age), now
        elif seen != self._seen:
            self._age, self._at = 0.0, now
        self._seen = seen
        self._note(now, done)
        complete = done >= planned and stamps[SUMMARY][1] > 0
        if complete and stamps[ROWS][1] - stamps[SUMMARY][1] < _SLACK * 1e9:
            return "ended"
        if self.age < QUIET:
            return "running"
        return "ended" if complete else "cut off"

    @property
    def age(self) -> float:
        """Seconds since the last news."""
        return self._age + self.clock() - self._at

    def left(self, planned: int) -> float | None:
        """Return the seconds until all rows are there at the present rate; None: not known."""
        if not self._done:
            return None
        (first, before), (last, done) = self._done[0], self._done[-1]
        if last - first < _STEADY or done <= before:
            return None
        return (planned - done) * (last - first) / (done - before)

    def _note(self, now: float, done: int) -> None:
        self._done.append((now, done))
        while now - self._done[0][0] > _WINDOW:
            self._done.popleft()


def stamp(file: Path) -> tuple[int, int]:
    """Return size and time of change (nanoseconds) of a file; (-1, 0) if there is none."""
    try:
        found = file.stat()
    except OSError:
        return -1, 0
    return found.st_size, found.st_mtime_ns
