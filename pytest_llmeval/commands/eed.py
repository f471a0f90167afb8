"""``llmeval eed``: compare two LaTeX formulas and show each step of the scoring."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final

from pytest_llmeval.commands.console import NO, YES, say
from pytest_llmeval.scoring.eed import Mode, Sandbox

_MODES: Final[tuple[Mode, ...]] = ("corrected", "published")


EXAMPLES = (
    "llmeval eed 'm v^2 / 2' '\\frac{1}{2} m v^2'",
    "llmeval eed 'x + 1' '1 + x' --mode corrected",
)
"""Command lines that the help shows."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("answer", help="LaTeX of the candidate")
    parser.add_argument("target", help="LaTeX of the target")
    parser.add_argument(
        "--mode",
        choices=_MODES,
        help="only this mode (default: both; corrected decides the exit status)",
    )


def run(chosen: argparse.Namespace) -> int:
    """Print each step of the scoring of both formulas."""
    modes: Sequence[Mode] = [chosen.mode] if chosen.mode else _MODES
    with Sandbox() as sandbox:
        say("\n\n".join(sandbox.explain(chosen.answer, chosen.target, mode=mode) for mode in modes))
        return YES if sandbox.score(chosen.answer, chosen.target, mode=modes[0]).equivalent else NO
