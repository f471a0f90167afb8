"""``llmeval report``: a run's table again, and its files anew from its rows."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace

from pytest_llmeval.commands.console import YES, Commands, say, show
from pytest_llmeval.commands.runs import (
    RUN_HELP,
    add_reports,
    open_run,
    open_standing,
    width_and_color,
)
from pytest_llmeval.errors import UsageError


def declare(commands: Commands) -> None:
    """Add the command."""
    command = commands.add_parser(
        "report", help="a run's table again, and its files anew from its rows"
    )
    command.add_argument("name", metavar="RUN", help=RUN_HELP)
    command.add_argument(
        "--against", metavar="RUN", help="run or baseline that the report compares it with"
    )
    command.add_argument(
        "--parquet", action="store_true", help="also write rows.parquet (extra hub)"
    )
    add_reports(command)
    command.set_defaults(run=_run)


def _run(chosen: argparse.Namespace) -> int:
    from pytest_llmeval.files.redaction import Redactor  # noqa: PLC0415 - as above
    from pytest_llmeval.report.html import REPORT  # noqa: PLC0415 - as above
    from pytest_llmeval.report.rows_csv import write_parquet  # noqa: PLC0415 - as above
    from pytest_llmeval.report.table import (  # noqa: PLC0415 - as above
        render_comparison,
        render_gate,
        render_rescoring,
        render_table,
    )
    from pytest_llmeval.results.store import RunFiles  # noqa: PLC0415 - as above
    from pytest_llmeval.session.findings import PARQUET, write_findings  # noqa: PLC0415 - only this command needs it
    from pytest_llmeval.session.stored import stored_findings  # noqa: PLC0415 - as above
    from pytest_llmeval.session.yardstick import Yardstick  # noqa: PLC0415 - as above

    run = open_run(chosen.name, chosen.reports)
    found = stored_findings(run)
    if chosen.against is not None:
        yardstick = Yardstick(baseline=open_standing(chosen.against, chosen.reports))
        found = replace(found, against=yardstick.applied(found.rows, found.summary).against)
    width, color = width_and_color()
    show(render_table(found.summary, width=width, color=color))
    if found.rescoring is not None:
        show(render_rescoring(found.rescoring, width=width, color=color))
    if found.against is not None:
        say(f"\nagainst {found.against.name}")
        show(render_comparison(found.against.comparison, width=width, color=color))
    if found.gate is not None:
        show(render_gate(found.gate, width=width, color=color))
    try:
        write_findings(RunFiles(run.path, Redactor.of(os.environ)), found)
    except OSError as error:
        msg = f"{run.path}: its files cannot be written: {error.strerror or error}"
        raise UsageError(msg) from error
    if chosen.parquet:
        write_parquet(found.rows, run.path / PARQUET)
    say(f"report: {run.path / REPORT}")
    return YES
