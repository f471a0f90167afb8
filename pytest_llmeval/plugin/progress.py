"""Lines of progress on the terminal during a run."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

    from pytest_llmeval.engine.models import Gauge

EVERY = 5.0
"""Seconds between two lines of progress."""


class ProgressLine:
    """Writes lines between pytest's; only on a terminal, and not with ``-q``."""

    def __init__(
        self, find_reporter: Callable[[], TerminalReporter | None], clean: Callable[[str], str]
    ) -> None:
        """Write through pytest's reporter, which exists once pytest is configured.

        Args:
            find_reporter: returns it; None if it is disabled.
            clean: makes a text fit to be printed.
        """
        self._find_reporter, self._clean = find_reporter, clean
        self._started = self._shown = time.monotonic()
        self._notes: deque[str] = deque()

    def show(self, done: int, planned: int, gauge: Gauge) -> None:
        """Write the queued lines, and the progress if the last line of it is EVERY seconds old.

        Args:
            done: number of tests reported.
            planned: number of planned tests.
            gauge: requests in flight and usage.
        """
        now = time.monotonic()
        self.flush()
        if now - self._shown >= EVERY:
            self._shown = now
            self._write(progress_text(done, planned, gauge, elapsed=now - self._started))

    def tell(self, text: str) -> None:
        """Queue a line, such as that a database was started; may be called from any thread."""
        self._notes.append(text)

    def flush(self) -> None:
        """Write the queued lines; must be called from the main thread."""
        while self._notes:
            self._write(self._notes.popleft())

    def _write(self, text: str) -> None:
        reporter = self._find_reporter()
        if reporter is None or not reporter.isatty or reporter.verbosity < 0:
            return
        reporter.ensure_newline()
        # xdist writes dots without the reporter, which therefore does not end their line.
        writer = reporter._tw  # noqa: SLF001 - the only access to it
        if writer.width_of_current_line:
            writer.line()
        reporter.write_line(self._clean(f"llmeval: {text}"))


def progress_text(done: int, planned: int, gauge: Gauge, *, elapsed: float) -> str:
    """Return ``120/500 done · 64 in flight · $1.20 · 3:10 left``; tokens if no price is known."""
    used = gauge.usage
    spent = f"${used.cost:.2f}" if used.cost is not None else f"{used.total_tokens:,} tokens"
    parts = [
        f"{done}/{planned} done",
        f"{gauge.in_flight} in flight",
        *([spent] if used.total_tokens else []),
    ]
    if done:
        minutes, seconds = divmod(round(elapsed / done * (planned - done)), 60)
        parts.append(f"{minutes}:{seconds:02} left")
    return " · ".join(parts)
