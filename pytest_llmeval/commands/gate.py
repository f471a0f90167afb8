"""``llmeval gate``: judge a finished run by the rules of a gate."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.commands.console import NO, YES, Commands, say, show
from pytest_llmeval.commands.runs import (
    RUN_HELP,
    add_reports,
    missing_rows,
    open_run,
    place_of,
    width_and_color,
)

if TYPE_CHECKING:
    from pytest_llmeval.results.gate import GateResult
    from pytest_llmeval.results.store import StoredRun


def declare(commands: Commands) -> None:
    """Add the command."""
    command = commands.add_parser(
        "gate", help="judge a run by the rules of a gate (exit status 1: not met)"
    )
    command.add_argument("name", metavar="RUN", help=RUN_HELP)
    command.add_argument("--gate", type=Path, required=True, metavar="FILE", help="file of rules")
    command.add_argument(
        "--baseline", metavar="PATH", help="baseline file or run that the run is held against"
    )
    add_reports(command)
    command.set_defaults(run=_run)


def _run(chosen: argparse.Namespace) -> int:
    from pytest_llmeval.report.table import render_comparison, render_gate  # noqa: PLC0415 - as above
    from pytest_llmeval.session.step_summary import write_step_summary  # noqa: PLC0415 - only this command needs it
    from pytest_llmeval.session.stored import stored_findings  # noqa: PLC0415 - only this command needs it
    from pytest_llmeval.session.yardstick import load_yardstick  # noqa: PLC0415 - as above

    baseline = None if chosen.baseline is None else place_of(chosen.baseline, chosen.reports)
    yardstick = load_yardstick(chosen.gate, baseline)
    run = open_run(chosen.name, chosen.reports)
    found = yardstick.applied(run.rows, stored_findings(run).summary)
    verdict = _complete(found.gate, run)
    width, color = width_and_color()
    if found.against is not None:
        show(render_comparison(found.against.comparison, width=width, color=color))
    show(render_gate(verdict, width=width, color=color))
    try:
        write_step_summary(replace(found, gate=verdict), os.environ)
    except OSError as error:
        say(f"the step's summary could not be written: {error}", sys.stderr)
    return YES if verdict.passed else NO


def _complete(result: GateResult | None, run: StoredRun) -> GateResult:
    """Return the verdict with a rule on the run itself if it was cut off: what it lacks may be what went wrong."""
    from pytest_llmeval.results.gate import Bounds, GateResult, RuleResult  # noqa: PLC0415 - only this command needs it

    judged = result or GateResult()
    if not (missing := missing_rows(run)):
        return judged
    lacking = RuleResult(
        task="run",
        model="",
        metric="rows",
        value=len(run.rows),
        bounds=Bounds(minimum=len(run.rows) + missing),
        verdict="fail",
        reason=f"{missing:,} planned samples have no row: the run was cut off",
    )
    return replace(judged, results=(lacking, *judged.results))
