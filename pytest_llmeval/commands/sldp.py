"""``llmeval sldp``: compare two SLDP texts, and say where they differ."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Final

from pytest_llmeval.commands.console import NO, TO_MEND, YES, Commands, harmless_line, say
from pytest_llmeval.errors import UsageError

if TYPE_CHECKING:
    from pytest_llmeval.scoring.sldp import SldpSyntaxError

_WINDOW: Final = 60
"""Signs shown before a mistake, and from it on."""


def declare(commands: Commands) -> None:
    """Add the command."""
    from pytest_llmeval.scoring.sldp.equality import TOLERANCE  # noqa: PLC0415 - only this command needs it

    command = commands.add_parser("sldp", help="compare two SLDP texts, and say where they differ")
    command.add_argument("answer", help="SLDP text, such as '<O1, O2>'")
    command.add_argument("solution", help="SLDP text that it should equal")
    command.add_argument(
        "--tolerance",
        type=float,
        default=TOLERANCE,
        help="numbers that differ by less are equal (%(default)s)",
    )
    command.add_argument(
        "--case-sensitive", action="store_true", help="tell strings of different case apart"
    )
    command.set_defaults(run=_run)


def _run(chosen: argparse.Namespace) -> int:
    from pytest_llmeval.scoring.sldp import SldpSyntaxError, parse_sldp, sldp_diff  # noqa: PLC0415 - only this command needs it

    values = []
    for name, text in (("answer", chosen.answer), ("solution", chosen.solution)):
        try:
            values.append(parse_sldp(text))
        except SldpSyntaxError as error:
            say(f"{name}: {error}\n{_pointed_at(text, error)}", sys.stderr)
        else:
            say(f"{name:8}  {values[-1]}")
    if len(values) < 2:  # noqa: PLR2004 - an answer and a solution
        return TO_MEND
    try:
        differences = sldp_diff(
            *values, tolerance=chosen.tolerance, case_sensitive=chosen.case_sensitive
        )
    except ValueError as error:
        message = f"--tolerance: {error}"
        raise UsageError(message) from None
    say("\n  ".join(["different" if differences else "equal", *differences]))
    return NO if differences else YES


def _pointed_at(text: str, error: SldpSyntaxError) -> str:
    """Return the part of the line around a mistake, and a caret below it."""
    line = text.split("\n")[error.line - 1]
    at = error.column - 1
    before = harmless_line(line[max(0, at - _WINDOW) : at])
    return f"  {before}{harmless_line(line[at : at + _WINDOW])}\n  {' ' * len(before)}^"
