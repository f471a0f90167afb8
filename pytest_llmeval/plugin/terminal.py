"""Pytest's terminal as the output of a conclusion."""

from __future__ import annotations

from _pytest.terminal import TerminalReporter


class TerminalPage:
    """A `session.conclusion.Writer` that writes through pytest's reporter.

    Attributes:
        width: columns of a line.
        color: whether colours are supported.
    """

    def __init__(self, reporter: TerminalReporter) -> None:
        """Write with the width and the colours of `reporter`."""
        self._reporter = reporter
        writer = reporter._tw  # noqa: SLF001 - the only access to width and colours
        self.width, self.color = writer.fullwidth, writer.hasmarkup

    def section(self, title: str) -> None:
        """Write a heading across the terminal."""
        self._reporter.section(title)

    def write(self, text: str) -> None:
        """Write text, with its line breaks."""
        self._reporter.write(text)

    def warn(self, line: str) -> None:
        """Write a line as a warning, in yellow."""
        self._reporter.write_line(line, yellow=True)
