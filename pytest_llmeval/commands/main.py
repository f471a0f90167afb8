"""The command line ``llmeval``.

Exit status: 0 yes, 1 no (for commands that decide something), 2 whatever a person has to mend
first.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from pytest_llmeval.commands import (
    baseline,
    calibrate,
    compare,
    eed,
    fetch,
    gate,
    merge,
    replies,
    report,
    sldp,
)
from pytest_llmeval.commands.console import TO_MEND, say
from pytest_llmeval.errors import LLMEvalError

_COMMANDS = (report, compare, gate, baseline, merge, sldp, eed, calibrate, fetch, replies)
"""Their order is that of the help text."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command (of the process, when none is given) and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="llmeval", description="Tools beside the pytest plugin pytest-llmeval."
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.declare(commands)
    chosen = parser.parse_args(arguments)
    try:
        status: int = chosen.run(chosen)
        sys.stdout.flush()
    except LLMEvalError as error:
        say(f"llmeval: {error}", sys.stderr)
        return TO_MEND
    except BrokenPipeError:  # whoever reads has enough, as `| head` has
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # else Python complains once more as it ends
        return TO_MEND
    return status
