"""``llmeval eed``: compare two LaTeX formulas, and show every stage on the way to the score."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pytest_llmeval.commands.console import NO, YES, Commands, say

if TYPE_CHECKING:
    from pytest_llmeval.scoring.eed import Mode

_MODES: Final = ("corrected", "published")


def declare(commands: Commands) -> None:
    """Add the command."""
    command = commands.add_parser(
        "eed", help="compare two LaTeX formulas, and show every stage on the way to the score"
    )
    command.add_argument("answer", help="LaTeX of the candidate")
    command.add_argument("target", help="LaTeX of the truth")
    command.add_argument(
        "--mode", choices=_MODES, help="only this mode (default: both, and the first decides)"
    )
    command.set_defaults(run=_run)


def _run(chosen: argparse.Namespace) -> int:
    from pytest_llmeval.scoring.eed import Sandbox  # noqa: PLC0415 - only this command needs it

    modes: Sequence[Mode] = [chosen.mode] if chosen.mode else _MODES
    with Sandbox() as sandbox:
        say("\n\n".join(sandbox.explain(chosen.answer, chosen.target, mode=mode) for mode in modes))
        return YES if sandbox.score(chosen.answer, chosen.target, mode=modes[0]).equivalent else NO
