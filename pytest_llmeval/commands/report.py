"""``llmeval report``: print a run's table, and write its files anew from its rows."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace

from pytest_llmeval.commands.console import NO, YES, StandardOutput, say
from pytest_llmeval.commands.runs import RUN_HELP, open_baseline, open_run
from pytest_llmeval.commands.session_options import add_options, reports_of, settings_of
from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.report.rows_csv import write_parquet
from pytest_llmeval.results.run_files import PARQUET, REPORT
from pytest_llmeval.results.store import RunFiles
from pytest_llmeval.session.conclusion import Conclusion
from pytest_llmeval.session.findings import write_findings
from pytest_llmeval.session.stored import stored_findings
from pytest_llmeval.session.yardstick import Yardstick


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("name", metavar="RUN", help=RUN_HELP)
    parser.add_argument("--against", metavar="RUN", help="run or baseline to compare it with")
    parser.add_argument("--parquet", action="store_true", help="also rows.parquet (extra hub)")
    add_options(parser, "report", "groups")


def run(chosen: argparse.Namespace) -> int:
    """Print and write what the run's rows say; NO if they are not those of its verdict."""
    settings = settings_of(chosen)
    reports = reports_of(settings)
    stored = open_run(chosen.name, reports)
    found = stored_findings(stored)
    if chosen.against is not None:
        yardstick = Yardstick(baseline=open_baseline(chosen.against, reports))
        found = replace(found, against=yardstick.applied(found.rows, found.summary).against)
    Conclusion(found=found, path=None, effort=None).print(StandardOutput(), groups=settings.groups)
    if unwritten := write_findings(RunFiles(stored.path, Redactor.of(os.environ)), found):
        msg = f"{stored.path}: {'; '.join(unwritten)}"
        raise UsageError(msg)
    if chosen.parquet:
        write_parquet(found.rows, stored.path / PARQUET)
    say(f"report: {stored.path / REPORT}")
    if found.changed:
        say(f"{stored.path.name}: {found.changed}", sys.stderr)
    return NO if found.changed else YES
