"""``llmeval sldp``: compare two SLDP texts and list their differences."""

from __future__ import annotations

import argparse
import sys
from typing import Final

from pytest_llmeval.commands.console import NO, TO_MEND, YES, harmless_line, say
from pytest_llmeval.errors import UsageError
from pytest_llmeval.scoring.sldp import SldpSyntaxError, TooCostlyError, parse_sldp, sldp_diff
from pytest_llmeval.scoring.sldp.equality import TOLERANCE

_WINDOW: Final = 60
"""Characters shown before a syntax error, and from it on."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("answer", help="SLDP text, such as '<O1, O2>'")
    parser.add_argument("solution", help="SLDP text that it should equal")
    parser.add_argument(
        "--tolerance",
        type=float,
        default=TOLERANCE,
        help="numbers that differ by less are equal (%(default)s)",
    )
    parser.add_argument(
        "--case-sensitive", action="store_true", help="strings of different case differ"
    )


def run(chosen: argparse.Namespace) -> int:
    """Print both values and their differences."""
    values = []
    for name, text in (("answer", chosen.answer), ("solution", chosen.solution)):
        try:
            values.append(parse_sldp(text))
        except SldpSyntaxError as error:
            say(f"{name}: {error}\n{_excerpt(text, error)}", sys.stderr)
        else:
            say(f"{name:8}  {values[-1]}")
    if len(values) < 2:  # noqa: PLR2004 - an answer and a solution
        return TO_MEND
    try:
        differences = sldp_diff(
            *values, tolerance=chosen.tolerance, case_sensitive=chosen.case_sensitive
        )
    except TooCostlyError as error:
        raise UsageError(str(error)) from None
    except ValueError as error:
        message = f"--tolerance: {error}"
        raise UsageError(message) from None
    say("\n  ".join(["different" if differences else "equal", *differences]))
    return NO if differences else YES


def _excerpt(text: str, error: SldpSyntaxError) -> str:
    """Return the line around a syntax error, cut to a window, with a caret below the position."""
    line = text.split("\n")[error.line - 1]
    at = error.column - 1
    before = harmless_line(line[max(0, at - _WINDOW) : at])
    return f"  {before}{harmless_line(line[at : at + _WINDOW])}\n  {' ' * len(before)}^"
