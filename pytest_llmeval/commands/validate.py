"""``llmeval validate``: measure a judge on labelled cases, and keep its figures."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pytest_llmeval.commands.console import TO_MEND, YES, StandardOutput, say
from pytest_llmeval.commands.numbers import positive
from pytest_llmeval.commands.session_options import add_options, reports_of, settings_of
from pytest_llmeval.report.table import render_sheets
from pytest_llmeval.session.judge_validation import JudgeValidation, asking_scorer
from pytest_llmeval.session.scorer_option import read_scorer
from pytest_llmeval.session.validation_sheet import prefilter_line, validation_sheet
from pytest_llmeval.session.validations import FOLDER, keep_validation

EXAMPLES = (
    "llmeval validate --cases cases.jsonl --judge openai/gpt-5-mini --votes 3",
    'llmeval validate --cases cases.jsonl --scorer "judge={prompt: faithfulness}" --judge openai/m',
)
"""Command lines that the help shows."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add = parser.add_argument
    add("--cases", type=Path, required=True, metavar="FILE", help="labelled cases")
    add("--votes", type=positive, metavar="K", help="verdicts for each case and judge (1)")
    add(
        "--scorer",
        default="judge",
        metavar="SPEC",
        help="the question, as a task names it: judge={prompt: faithfulness} (judge)",
    )
    add("--out", type=Path, metavar="DIR", help=f"folder of the figures ({FOLDER} in the reports)")
    session = ("judge", "concurrency", "seed", "budget", "prices", "reuse", "keep", "report")
    add_options(parser, *session)


def run(chosen: argparse.Namespace) -> int:
    """Print the figures of prefilter and judges, and keep those of the judges."""
    settings = settings_of(chosen)
    scorer = asking_scorer(read_scorer(chosen.scorer), chosen.votes)
    validation = JudgeValidation(chosen.cases, scorer, settings)
    if validation.prefilter is not None:
        say(prefilter_line(validation.prefilter, len(validation.cases)))
    if not settings.judges:
        say("no judge was measured: name one by --judge SPEC, such as openai/gpt-5.1")
    found, out = validation.measure(say), StandardOutput()
    kept = [one.validation for one in found if one.validation is not None]
    # Shown before anything is written: what was paid must not be lost to a full disk.
    if sheets := list(map(validation_sheet, kept)):
        out.write(render_sheets(sheets, width=out.width, color=out.color))
    for problem in (problem for one in found for problem in one.problems):
        say(problem, sys.stderr)
    folder = chosen.out or reports_of(settings) / FOLDER
    for one in kept:
        say(f"kept in {keep_validation(folder, one)}")
    return YES if len(kept) == len(found) else TO_MEND
