"""How the progress of a run is shown: one line that renews itself, or lines in a log."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from pytest_llmeval.report.progress_line import Progress

Style: TypeAlias = Literal["line", "plain", "none"]
"""``line``: one line at the bottom of a terminal; ``plain``: a line now and then."""

_FIRST: Final = 30.0
"""Seconds between two plain lines of a young run."""

_GROWTH: Final = 10
"""Of an older run they are this part of its age apart, up to `_LONGEST`."""

_LONGEST: Final = 300.0
"""Seconds; services end jobs that say nothing for ten minutes."""

_CLOSEST: Final = 10.0
"""Seconds at least between two plain lines, also where a quarter of the tests has ended."""


class PlainRhythm:
    """When a line is due in a log: every 30 s at first, then more seldom, and at each quarter."""

    def __init__(self) -> None:
        """Begin with the first question."""
        self._began: float | None = None
        self._last, self._quarter = 0.0, 0

    def is_due(self, now: float, progress: Progress) -> bool:
        """Return whether a line is due, which counts as written; at the end none is."""
        if self._began is None:
            self._began = self._last = now
        quarter = 4 * progress.done // max(1, progress.planned)
        since, age = now - self._last, now - self._began
        apart = _CLOSEST if quarter > self._quarter else max(_FIRST, min(_LONGEST, age / _GROWTH))
        if since < apart or progress.done >= progress.planned:
            return False
        self._last, self._quarter = now, quarter
        return True


def style_of(
    wanted: str,
    *,
    verbosity: int,
    is_terminal: bool,
    workers_write: bool,
    environment: Mapping[str, str] = os.environ,
) -> Style:
    """Return how progress is shown: as wanted, or as fits the output.

    Args:
        wanted: a `Style`, or ``auto``.
        verbosity: pytest's; under -1 (``-qq``) nothing is shown.
        is_terminal: whether pytest writes to a terminal.
        workers_write: whether workers may write to it themselves, past what can be watched.
        environment: tells a job of CI, whose terminal is a log, and a terminal without a cursor.
    """
    if wanted == "none" or (wanted == "auto" and verbosity < -1):
        return "none"
    moves = is_terminal and sys.platform != "win32" and environment.get("TERM") != "dumb"
    if wanted == "plain" or not moves:
        return "plain"
    is_log = bool(environment.get("CI") or environment.get("BUILD_NUMBER"))
    return "plain" if wanted == "auto" and (is_log or workers_write) else "line"
