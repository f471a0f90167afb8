"""``llmeval pddl``: compare two goals in PDDL by logic and list their differences."""

from __future__ import annotations

import argparse

from pytest_llmeval.commands.console import TO_MEND
from pytest_llmeval.commands.two_answers import parsed_pair, say_verdict
from pytest_llmeval.errors import UsageError
from pytest_llmeval.scoring.pddl import TooCostlyError, parse_pddl, pddl_diff

EXAMPLES = ("llmeval pddl '(and (open d1) (on a b))' '(and (on a b) (open d1))'",)
"""Command lines that the help shows."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("answer", help="a goal in PDDL, such as '(or (safe O1) (safe O2))'")
    parser.add_argument("solution", help="the goal that it should be equivalent to")
    parser.add_argument(
        "--ignore-case", action="store_true", help="names of different case are the same"
    )


def run(chosen: argparse.Namespace) -> int:
    """Print both goals and their differences."""
    goals = parsed_pair(chosen, parse_pddl)
    if goals is None:
        return TO_MEND
    try:
        differences = pddl_diff(*goals, case_sensitive=not chosen.ignore_case)
    except TooCostlyError as error:
        message = f"too expensive to compare: {error}"
        raise UsageError(message) from None
    return say_verdict(differences)
