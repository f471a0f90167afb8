"""The progress of a command on standard error: a line that renews itself, or lines in a log."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Final

from pytest_llmeval.report.progress_line import Progress, progress_line
from pytest_llmeval.report.progress_style import PlainRhythm, style_of
from pytest_llmeval.safety.encodable import encoding_of

_EVERY: Final = 0.5
"""Seconds between two renewals of the line."""

_ERASE: Final = "\r\x1b[K"


class RunningLine:
    """Shows how far a command is, as pytest's sessions do; call `close` before other output."""

    def __init__(self, wanted: str) -> None:
        """Show nothing yet; `wanted` is ``auto``, ``line``, ``plain`` or ``none``."""
        self._style = style_of(
            wanted, verbosity=0, is_terminal=sys.stderr.isatty(), workers_write=False
        )
        self._rhythm = PlainRhythm()
        self._shown = 0.0
        self._ascii_only = not encoding_of(sys.stderr).lower().replace("-", "").startswith("utf8")

    def show(self, progress: Progress) -> None:
        """Show the progress, unless it was shown just now."""
        now = time.monotonic()
        if self._style == "plain" and self._rhythm.is_due(now, progress):
            print(progress_line(progress, ascii_only=self._ascii_only), file=sys.stderr, flush=True)
        if self._style == "line" and now - self._shown >= _EVERY:
            self._shown = now
            width = shutil.get_terminal_size().columns - 1
            line = progress_line(progress, width=width, ascii_only=self._ascii_only)
            print(f"{_ERASE}{line}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Erase the line."""
        if self._style == "line" and self._shown:
            print(_ERASE, end="", file=sys.stderr, flush=True)
