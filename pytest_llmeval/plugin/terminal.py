"""Pytest's terminal as the output of a conclusion."""

from __future__ import annotations

from collections.abc import Callable

from _pytest.terminal import TerminalReporter

from pytest_llmeval.plugin.printed import clean_drawing
from pytest_llmeval.safety.encodable import encodable, encoding_of
from pytest_llmeval.safety.printable import printable


class TerminalPage:
    """A `session.printout.Writer` that writes through pytest's reporter.

    What its encoding does not have is written in ASCII forms: pytest would write the whole text as
    one line of escapes.

    Attributes:
        width: columns of a line.
        color: whether colours are supported.
        encoding: of the file that pytest writes to.
    """

    def __init__(self, reporter: TerminalReporter, redact: Callable[[str], str]) -> None:
        """Write with the width and the colours of `reporter`; `redact` removes keys."""
        self._reporter, self._redact = reporter, redact
        writer = reporter._tw  # noqa: SLF001 - the only access to width and colours
        self.width, self.color = writer.fullwidth, writer.hasmarkup
        self.encoding = encoding_of(writer._file)  # noqa: SLF001 - as above

    def section(self, title: str) -> None:
        """Write a heading across the terminal."""
        self._reporter.section(self._fit(printable(title)))

    def write(self, text: str) -> None:
        """Write text, with its line breaks."""
        self._reporter.write(self._fit(clean_drawing(text)))

    def warn(self, line: str) -> None:
        """Write a line as a warning, in yellow."""
        self._reporter.write_line(self._fit(printable(line)), yellow=True)

    def _fit(self, text: str) -> str:
        return encodable(self._redact(text), self.encoding)
