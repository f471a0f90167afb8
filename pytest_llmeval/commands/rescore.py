"""``llmeval rescore``: score a run's stored answers again, without pytest."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from pytest_llmeval.commands.console import TO_MEND, YES, StandardOutput, say
from pytest_llmeval.commands.runs import RUN_HELP, open_run
from pytest_llmeval.commands.session_options import add_options, reports_of, settings_of
from pytest_llmeval.errors import UsageError
from pytest_llmeval.roles import JUDGE, SOLVER
from pytest_llmeval.session.rescore import rescore
from pytest_llmeval.session.rescore_plan import RescorePlan
from pytest_llmeval.session.role_specs import specs_by_role
from pytest_llmeval.session.scorer_option import read_scorers

EXAMPLES = (
    "llmeval rescore latest",
    'llmeval rescore reports/B --scorer "sldp={tolerance: 0.05}"',
)
"""Command lines that the help shows."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("name", metavar="RUN", help=RUN_HELP)
    parser.add_argument(
        "--scorer",
        action="append",
        default=[],
        metavar="SPEC",
        help="NAME or NAME=OPTIONS as YAML, repeatable: in place of the tasks' (the first decides)",
    )
    session = (
        "model",
        "judge",
        "concurrency",
        "seed",
        "budget",
        "prices",
        "reuse",
        "keep",
        "report",
        "sandbox",
    )
    add_options(parser, *session)
    parser.epilog = (
        "Without --judge, and --model ROLE=SPEC for scorers of another role, nothing is sent: "
        "scorers that ask a model get the replies that the run stored. The scores are written as a "
        "run of their own."
    )


def run(chosen: argparse.Namespace) -> int:
    """Score the answers, and print the table and what changed."""
    settings = settings_of(chosen)
    reports = reports_of(settings)
    # Only a model that is typed is asked: a variable or an ini key is no order to spend.
    typed = specs_by_role(chosen.llmeval_model or ())
    if SOLVER in typed:
        msg = "--model: no model under test is asked here; name a role, such as --model judge=SPEC"
        raise UsageError(msg)
    judges = settings.judges if chosen.llmeval_judge or JUDGE in typed else ()
    roles = {role: specs for role, specs in settings.roles.items() if role in typed}
    settings = replace(settings, judges=judges, roles=roles, report=str(reports.resolve()))
    stored = open_run(chosen.name, reports)
    plan = RescorePlan(stored, settings, read_scorers(chosen.scorer))
    found = rescore(plan, reports, lambda line: say(line, sys.stderr))
    found.print(StandardOutput())
    return TO_MEND if found.unwritten else YES
