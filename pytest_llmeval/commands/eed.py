"""``llmeval eed``: compare two LaTeX formulas and show each step of the scoring."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final

from pytest_llmeval.commands.console import NO, YES, Commands, say
from pytest_llmeval.scoring.eed import Mode, Sandbox

_MODES: Final[tuple[Mode, ...]] = ("corrected", "published")


def declare(commands: Commands) -> None:
    """Add the command."""
    command = commands.add_parser(
        "eed", help="compare two LaTeX formulas and show each step of the scoring"
    )
    command.add_argument("answer", help="LaTeX of the candidate")
    command.add_argument("target", help="LaTeX of the target")
    command.add_argument(
        "--mode",
        choices=_MODES,
        help="only this mode (default: both; corrected decides the exit status)",
    )
    command.set_defaults(run=_run)


def _run(chosen: argparse.Namespace) -> int:
    modes: Sequence[Mode] = [chosen.mode] if chosen.mode else _MODES
    with Sandbox() as sandbox:
        say("\n\n".join(sandbox.explain(chosen.answer, chosen.target, mode=mode) for mode in modes))
        return YES if sandbox.score(chosen.answer, chosen.target, mode=modes[0]).equivalent else NO
