"""Pytest's terminal as the page that a conclusion is written on."""

from __future__ import annotations

from _pytest.terminal import TerminalReporter


class TerminalPage:
    """Writes through pytest's reporter; see `session.conclusion.Writer`."""

    def __init__(self, reporter: TerminalReporter) -> None:
        """Write with the width and the colours of `reporter`."""
        self._reporter = reporter
        writer = reporter._tw  # noqa: SLF001 - the only way to its width and colours
        self.width, self.color = writer.fullwidth, writer.hasmarkup

    def section(self, title: str) -> None:
        """Write a heading across the terminal."""
        self._reporter.section(title)

    def write(self, text: str) -> None:
        """Write drawn text, with its line breaks."""
        self._reporter.write(text)

    def warn(self, line: str) -> None:
        """Write a line that must be noticed."""
        self._reporter.write_line(line, yellow=True)
