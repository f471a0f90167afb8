"""What every command shares: exit statuses, and printing text that a model may have written."""

from __future__ import annotations

import argparse
import sys
from typing import Final, TextIO, TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001 - its only name

YES: Final = 0
NO: Final = 1
TO_MEND: Final = 2
"""Exit statuses: yes, no (of commands that decide something), and whatever a person has to mend
first."""


def say(text: str, stream: TextIO | None = None) -> None:
    """Print text, a part of which may be a model's: nothing in it reaches the terminal as a command."""
    out = stream or sys.stdout
    encoding = out.encoding or "utf-8"
    harmless = "\n".join(map(harmless_line, text.split("\n")))
    print(harmless.encode(encoding, "backslashreplace").decode(encoding), file=out)


def show(drawn: str) -> None:
    """Print what a renderer made, whose texts are clean already and whose colours are ours."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(drawn.encode(encoding, "replace").decode(encoding))


def harmless_line(line: str) -> str:
    """Write control signs, direction marks and whatever else has no shape as escapes."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in line)
