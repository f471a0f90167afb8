"""Pytest's terminal as the page that a conclusion is written on."""

from __future__ import annotations

from _pytest.terminal import TerminalReporter

NARROWEST = 40
"""Columns that tables are drawn for at least."""


class TerminalPage:
    """Writes through pytest's reporter; see `session.conclusion.Page`."""

    def __init__(self, reporter: TerminalReporter) -> None:
        """Write with the width and the colours of `reporter`."""
        self._reporter = reporter
        writer = reporter._tw  # noqa: SLF001 - the only way to its width and colours
        self.width, self.color = max(NARROWEST, writer.fullwidth), writer.hasmarkup

    def section(self, title: str) -> None:
        """Write a heading across the terminal."""
        self._reporter.section(title)

    def write(self, text: str) -> None:
        """Write drawn text, with its line breaks."""
        self._reporter.write(text)

    def write_line(self, line: str, *, warning: bool = False) -> None:
        """Write a line; a warning stands out."""
        self._reporter.write_line(line, yellow=warning)
