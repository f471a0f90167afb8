"""What all commands use: exit statuses, and printing on standard output."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Final, TextIO

from pytest_llmeval.safety.encodable import encodable, encoding_of

YES: Final = 0
NO: Final = 1
TO_MEND: Final = 2
"""Exit statuses: yes, no (of commands that decide something), an error of the user's."""

NARROWEST: Final = 40
"""Columns that tables are drawn for at least."""

_USUAL_WIDTH: Final = 100
"""Width of printed tables, in columns, if standard output is not a terminal."""


def say(text: str, stream: TextIO | None = None) -> None:
    """Print text that may hold a model's: control characters are written as escapes."""
    out = stream or sys.stdout
    harmless = "\n".join(map(harmless_line, text.split("\n")))
    print(encodable(harmless, encoding_of(out)), file=out)


def show(drawn: str) -> None:
    """Print what a renderer drew: its texts are free of control characters already."""
    sys.stdout.write(encodable(drawn, encoding_of(sys.stdout)))


def harmless_line(line: str) -> str:
    """Return a line with control characters and direction marks written as escapes."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in line)


def shortest(path: Path) -> Path:
    """Return a path relative to the current folder if it lies in it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


class StandardOutput:
    """Standard output as the writer of a conclusion (`session.printout.Writer`).

    Attributes:
        width: columns of a line.
        color: whether colours are shown.
        encoding: of standard output.
    """

    def __init__(self) -> None:
        """Look at the terminal."""
        self.width = max(NARROWEST, shutil.get_terminal_size((_USUAL_WIDTH, 24)).columns)
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        self.color = sys.stdout.isatty() and not plain
        self.encoding = encoding_of(sys.stdout)

    def section(self, title: str) -> None:
        """Write a heading."""
        say(f"\n{title}")

    def write(self, text: str) -> None:
        """Write drawn text, with its line breaks."""
        show(text)

    def warn(self, line: str) -> None:
        """Write a line on standard error."""
        say(line, sys.stderr)
