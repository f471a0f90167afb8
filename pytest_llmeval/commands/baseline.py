"""``llmeval baseline``: make a run the baseline that later ones are compared with."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_llmeval.commands.console import YES, say
from pytest_llmeval.commands.runs import RUN_HELP, open_run
from pytest_llmeval.commands.session_options import add_options, reports_of, settings_of
from pytest_llmeval.errors import UsageError
from pytest_llmeval.results.baseline import baseline_of, write_baseline
from pytest_llmeval.session.stored import stored_findings

EXAMPLES = (
    "llmeval baseline set latest",
    "llmeval baseline set reports/B --to reports/baselines/main.jsonl",
)
"""Command lines that the help shows."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    one = actions.add_parser("set", help="write a baseline: a small file, one line a sample")
    one.add_argument("name", metavar="RUN", help=RUN_HELP)
    one.add_argument(
        "--to", type=Path, metavar="PATH", help="the file (baselines/main.jsonl in the reports)"
    )
    add_options(one, "report")


def run(chosen: argparse.Namespace) -> int:
    """Write a run as a baseline."""
    reports = reports_of(settings_of(chosen))
    path = chosen.to or reports / "baselines" / "main.jsonl"
    if path.suffix != ".jsonl":
        msg = f"--to {path}: a baseline is a file of JSON lines; let its name end in .jsonl"
        raise UsageError(msg)
    stored = open_run(chosen.name, reports)
    if stored.missing:
        msg = (
            f"{stored.path.name} was cut off, so it is no baseline; "
            "continue it first (pytest --llmeval-resume)"
        )
        raise UsageError(msg)
    if not stored.rows:
        msg = f"{stored.path.name} has no rows, so it is no baseline"
        raise UsageError(msg)
    write_baseline(
        baseline_of(stored.path.name, stored.rows, stored_findings(stored).summary), path
    )
    say(f"baseline: {path} ({len(stored.rows):,} rows of {stored.path.name})")
    return YES
