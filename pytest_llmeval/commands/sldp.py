"""``llmeval sldp``: compare two SLDP texts and list their differences."""

from __future__ import annotations

import argparse

from pytest_llmeval.commands.console import TO_MEND
from pytest_llmeval.commands.two_answers import parsed_pair, say_verdict
from pytest_llmeval.errors import UsageError
from pytest_llmeval.scoring.sldp import TooCostlyError, parse_sldp, sldp_diff
from pytest_llmeval.scoring.sldp.equality import TOLERANCE

EXAMPLES = (
    "llmeval sldp '<O1, O2>' '<O2, O1>'",
    "llmeval sldp '[0.11, 2]' '[0.1, 2]' --tolerance 0.05",
)
"""Command lines that the help shows."""


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
    values = parsed_pair(chosen, parse_sldp)
    if values is None:
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
    return say_verdict(differences)
