"""``llmeval gate``: check a finished run by the rules of a gate."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from pytest_llmeval.commands.console import NO, YES, StandardOutput, say, shortest
from pytest_llmeval.commands.runs import RUN_HELP, open_run
from pytest_llmeval.commands.session_options import add_options, reports_of, settings_of
from pytest_llmeval.errors import UsageError
from pytest_llmeval.report.table import render_comparison, render_gate
from pytest_llmeval.results.gate_result import GateResult
from pytest_llmeval.session.cut_off import with_cut_off
from pytest_llmeval.session.named_run import place_of
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.step_summary import write_step_summary
from pytest_llmeval.session.stored import stored_findings
from pytest_llmeval.session.yardstick import Yardstick, load_yardstick

EXAMPLES = (
    "llmeval gate latest --gate benchmarks/gates.yaml",
    "llmeval gate reports/B --gate benchmarks/gates.yaml --baseline reports/baselines/main.jsonl",
)
"""Command lines that the help shows."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("name", metavar="RUN", help=RUN_HELP)
    add_options(parser, "gate", "baseline", "report")


def run(chosen: argparse.Namespace) -> int:
    """Print the gate's result, also for a job of GitHub Actions, and decide by it."""
    settings = settings_of(chosen)
    reports = reports_of(settings)
    yardstick = _yardstick(settings, reports)
    stored = open_run(chosen.name, reports)
    found = with_cut_off(yardstick.applied(stored.rows, stored_findings(stored).summary), stored)
    gate = found.gate or GateResult()
    out = StandardOutput()
    if found.against is not None:
        out.write(render_comparison(found.against.comparison, width=out.width, color=out.color))
    out.write(render_gate(gate, width=out.width, color=out.color))
    try:
        write_step_summary(found, stored.path, os.environ)
    except OSError as error:
        say(f"the step's summary could not be written: {error}", sys.stderr)
    return YES if gate.passed else NO


def _yardstick(settings: Settings, reports: Path) -> Yardstick:
    """Return gate and baseline; a baseline may also be named as a run is."""
    if settings.gate is None:
        msg = "name the file of rules: --gate FILE (or the ini key llmeval_gate)"
        raise UsageError(msg)
    baseline = settings.baseline
    place = None if baseline is None else place_of(str(shortest(Path(baseline))), reports)
    return load_yardstick(Path(settings.gate), place)
