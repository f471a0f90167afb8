"""The progress of a run, shown while it goes on: one line that renews itself, or lines in a log."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from pytest_llmeval.plugin.watched_output import WatchedOutput
from pytest_llmeval.report.progress_line import Progress, progress_line
from pytest_llmeval.report.progress_style import PlainRhythm, Style, style_of
from pytest_llmeval.safety.encodable import encoding_of

if TYPE_CHECKING:
    import pytest
    from _pytest.terminal import TerminalReporter

_EVERY: Final = 0.5
"""Seconds between two renewals."""


class ProgressDisplay:
    """Draws the progress line twice a second, in a thread, until `close` is called.

    The thread pytest runs in may be inside of a test.
    """

    def __init__(
        self,
        config: pytest.Config,
        wanted: str,
        read: Callable[[], Progress | None],
        clean: Callable[[str], str],
    ) -> None:
        """Show nothing yet.

        Args:
            config: pytest's configuration, whose reporter exists once pytest is configured.
            wanted: a `Style`, or ``auto``.
            read: returns the progress; None before there is any. Called in the thread.
            clean: makes a text fit to be printed.
        """
        self._config, self._wanted, self._read, self._clean = config, wanted, read, clean
        self._notes: deque[str] = deque()
        self._log = PlainRhythm()
        self._output: WatchedOutput | None = None
        self._style: Style = "none"
        self._ended, self._turn = threading.Event(), threading.Lock()
        self._paused = self._silent = False
        self._thread = threading.Thread(target=self._renew, name="llmeval-progress", daemon=True)

    def start(self) -> None:
        """Begin; what is written now must not be captured."""
        if (reporter := self._reporter) is None:
            return
        option = self._config.getoption
        style = style_of(
            self._wanted,
            verbosity=reporter.verbosity,
            is_terminal=reporter.isatty(),
            workers_write=option("capture", "") == "no" and option("dist", "no") != "no",
        )
        if style == "none":
            return
        streams = [reporter._tw._file]  # noqa: SLF001 - there is no other way to it
        if style == "line":
            streams += [one for one in (sys.stdout, sys.stderr) if one.isatty()]
        try:
            self._output = WatchedOutput(streams)
        except (OSError, ValueError, AttributeError):
            return  # an output of another kind
        self._style = style
        self._thread.start()

    def close(self) -> None:
        """Erase the line and end the thread; notes are shown from now on as they come."""
        self._ended.set()
        if self._output is not None:
            self._thread.join()
            self._output.close()
            self._output = None
        self.flush()

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Print nothing while the block runs, in which pytest prints one line in several parts.

        A line that the thread is printing is finished first.
        """
        with self._turn:
            self._silent = True
        try:
            yield
        finally:
            self._silent = False

    def pause(self) -> None:
        """Show nothing until `resume`, because a debugger has the terminal."""
        with self._turn:
            self._paused = True
            if self._output is not None:
                self._output.draw("")

    def resume(self) -> None:
        """Show the progress again, if it was paused."""
        self._paused = False

    def tell(self, text: str) -> None:
        """Queue a line, such as that a database was started; may be called from any thread."""
        self._notes.append(text)

    def flush(self) -> None:
        """Write the queued lines; must be called from the main thread."""
        with suppress(IndexError):
            while True:
                self._print(self._notes.popleft())

    @property
    def _reporter(self) -> TerminalReporter | None:
        found: TerminalReporter | None = self._config.pluginmanager.getplugin("terminalreporter")
        return found

    def _renew(self) -> None:
        while not self._ended.wait(_EVERY):
            try:
                with self._turn:
                    if not (self._silent or self._paused):
                        self._renew_once()
            except OSError:
                return  # the terminal is gone

    def _renew_once(self) -> None:
        self.flush()
        if (progress := self._read()) is not None:
            self._show(progress)

    def _show(self, progress: Progress) -> None:
        assert self._output is not None  # noqa: S101 - the thread runs between start and close
        if self._style == "plain":
            if self._log.is_due(time.monotonic(), progress):
                self._write(progress_line(progress, ascii_only=self._ascii_only))
            return
        reporter = self._reporter
        line = progress_line(
            progress,
            width=self._output.width - 1,
            ascii_only=self._ascii_only,
            color=reporter is not None and reporter.hasmarkup,
        )
        self._output.draw(line)

    def _print(self, note: str) -> None:
        reporter = self._reporter
        if reporter is not None and reporter.verbosity >= 0 and self._wanted != "none":
            self._write(f"llmeval: {self._clean(note)}")

    def _write(self, line: str) -> None:
        """Print `line` as a whole line of the output.

        If pytest has printed a part of a line, a line break comes first. What pytest prints
        afterwards starts on a new line; under ``-v`` it repeats the name of the running test.
        """
        reporter = self._reporter
        if reporter is None:
            return
        if self._output is None:
            reporter.write_line(line)
            return
        with self._output.whole_line() as within:
            if within:
                reporter.line("")
            reporter.line(line)
            if reporter.showlongtestinfo:
                reporter.currentfspath = None  # the test's name stands above, and is repeated

    @property
    def _ascii_only(self) -> bool:
        reporter = self._reporter
        if reporter is None:
            return True
        encoding = encoding_of(reporter._tw._file)  # noqa: SLF001 - the only access to it
        return not encoding.lower().replace("-", "").startswith("utf8")
