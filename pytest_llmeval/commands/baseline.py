"""``llmeval baseline``: make a run what later ones are held against."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_llmeval.commands.console import YES, Commands, say
from pytest_llmeval.commands.runs import RUN_HELP, add_reports, missing_rows, open_run
from pytest_llmeval.errors import UsageError


def declare(commands: Commands) -> None:
    """Add the command."""
    baseline = commands.add_parser("baseline", help="make a run what later ones are held against")
    actions = baseline.add_subparsers(title="actions", metavar="ACTION", required=True)
    put = actions.add_parser(
        "set", help="write a baseline: a small file, one line a sample, to be committed"
    )
    put.add_argument("name", metavar="RUN", help=RUN_HELP)
    put.add_argument(
        "--to", type=Path, metavar="PATH", help="the file (baselines/main.jsonl in the reports)"
    )
    add_reports(put)
    put.set_defaults(run=_set)


def _set(chosen: argparse.Namespace) -> int:
    from pytest_llmeval.results.baseline import baseline_of, write_baseline  # noqa: PLC0415 - as above
    from pytest_llmeval.session.stored import stored_findings  # noqa: PLC0415 - only this command needs it

    path = chosen.to or chosen.reports / "baselines" / "main.jsonl"
    if path.suffix != ".jsonl":
        msg = f"--to {path}: a baseline is a file of JSON lines; let its name end in .jsonl"
        raise UsageError(msg)
    run = open_run(chosen.name, chosen.reports)
    if missing_rows(run):
        msg = f"{run.path.name} was cut off, so it is no baseline; go on with it first (pytest --llmeval-resume)"
        raise UsageError(msg)
    if not run.rows:
        msg = f"{run.path.name} has no rows, so it is no baseline"
        raise UsageError(msg)
    write_baseline(baseline_of(run.path.name, run.rows, stored_findings(run).summary), path)
    say(f"baseline: {path} ({len(run.rows):,} rows of {run.path.name})")
    return YES
