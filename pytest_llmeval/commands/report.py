"""``llmeval report``: print a run's table, and write its files anew from its rows."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

from pytest_llmeval.commands.console import NO, YES, StandardOutput, say
from pytest_llmeval.commands.runs import RUN_HELP, open_baseline, open_run
from pytest_llmeval.commands.session_options import add_options, reports_of, settings_of
from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.report.html import Against
from pytest_llmeval.report.left_out import use_text
from pytest_llmeval.report.pull_request import COMMENT
from pytest_llmeval.report.rows_csv import write_parquet
from pytest_llmeval.results.run_files import PARQUET, REPORT
from pytest_llmeval.results.store import RunFiles
from pytest_llmeval.session.conclusion import Conclusion
from pytest_llmeval.session.findings import Findings, write_findings
from pytest_llmeval.session.step_summary import pull_request_text
from pytest_llmeval.session.stored import stored_findings
from pytest_llmeval.session.yardstick import Yardstick

EXAMPLES = (
    "llmeval report latest",
    "llmeval report reports/B --against reports/A",
    "llmeval report latest --against main.jsonl --comment comment.md",
)
"""Command lines that the help shows."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("name", metavar="RUN", help=RUN_HELP)
    parser.add_argument("--against", metavar="RUN", help="run or baseline to compare it with")
    parser.add_argument("--parquet", action="store_true", help="also rows.parquet (extra hub)")
    parser.add_argument(
        "--comment", type=Path, metavar="FILE", help="also a comment for a pull request, Markdown"
    )
    add_options(parser, "report")


def run(chosen: argparse.Namespace) -> int:
    """Print and write what the run's rows say.

    NO if they are not those of its verdict, if there are none or a line was cut off, and if nothing
    could be compared; standard error says so.
    """
    reports = reports_of(settings_of(chosen))
    stored = open_run(chosen.name, reports)
    found = stored_findings(stored)
    if chosen.against is not None:
        yardstick = Yardstick(baseline=open_baseline(chosen.against, reports))
        found = replace(found, against=yardstick.applied(found.rows, found.summary).against)
    Conclusion(found=found, path=None, effort=None).print(StandardOutput())
    if unwritten := write_findings(RunFiles(stored.path, Redactor.of(os.environ)), found):
        msg = f"{stored.path}: {'; '.join(unwritten)}"
        raise UsageError(msg)
    if chosen.parquet:
        write_parquet(found.rows, stored.path / PARQUET)
    if chosen.comment is not None:
        _write_comment(found, stored.path, chosen.comment)
    say(f"report: {stored.path / REPORT}")
    reasons = [found.changed] if found.changed else []
    if not found.rows:
        reasons.append("there are no rows")
    if found.against is not None:
        reasons += _compared(found.against)
    for reason in reasons:
        say(f"{stored.path.name}: {reason}", sys.stderr)
    return NO if reasons or stored.remarks else YES


def _write_comment(found: Findings, folder: Path, file: Path) -> None:
    try:
        file.write_bytes(pull_request_text(found, folder, os.environ, COMMENT))
    except OSError as error:
        msg = f"{file}: cannot be written: {error.strerror or error}"
        raise UsageError(msg) from error


def _compared(against: Against) -> list[str]:
    """Print what was compared, and return why that is nothing."""
    comparison = against.comparison
    for name, use in zip((against.name, "this run"), comparison.uses, strict=True):
        say(use_text(name, use))
    if any(pair.n for pair in comparison.pairs):
        return []
    return [f"no sample could be compared with {against.name}"]
