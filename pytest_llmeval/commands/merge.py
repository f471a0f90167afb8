"""``llmeval merge``: the shards of a run as one run."""

from __future__ import annotations

import argparse

from pytest_llmeval.commands.console import TO_MEND, YES, StandardOutput
from pytest_llmeval.commands.runs import RUN_HELP, open_run
from pytest_llmeval.commands.session_options import add_options, reports_of, settings_of
from pytest_llmeval.session.merging import merge

EXAMPLES = ("llmeval merge reports/A reports/B",)
"""Command lines that the help shows."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("names", nargs="+", metavar="RUN", help=RUN_HELP)
    add_options(parser, "report")


def run(chosen: argparse.Namespace) -> int:
    """Write and print the merged run."""
    reports = reports_of(settings_of(chosen))
    runs = [open_run(name, reports) for name in chosen.names]
    merged = merge(runs, reports)
    merged.print(StandardOutput())
    return TO_MEND if merged.unwritten else YES
