"""``llmeval calibrate``: measure a judge on labelled cases, and keep its figures."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_llmeval.commands.console import YES, say
from pytest_llmeval.commands.session_options import add_options, reports_of, settings_of
from pytest_llmeval.session.calibration import JudgeMeasurement
from pytest_llmeval.session.calibration_text import calibration_table, prefilter_line
from pytest_llmeval.session.calibrations import FOLDER, keep_calibration


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add = parser.add_argument
    add("--cases", type=Path, required=True, metavar="FILE", help="labelled cases")
    add("--votes", type=_count, default=1, metavar="K", help="verdicts for each case and judge (1)")
    add("--out", type=Path, metavar="DIR", help=f"folder of the figures ({FOLDER} in the reports)")
    session = ("judge", "concurrency", "seed", "budget", "prices", "reuse", "keep", "report")
    add_options(parser, *session)


def run(chosen: argparse.Namespace) -> int:
    """Print the figures of prefilter and judges, and keep those of the judges."""
    settings = settings_of(chosen)
    measurement = JudgeMeasurement(chosen.cases, settings)
    say(prefilter_line(measurement.prefilter, len(measurement.cases)))
    if not settings.judges:
        say("no judge was measured: name one by --judge SPEC, such as openai/gpt-5.1")
    folder = chosen.out or reports_of(settings) / FOLDER
    for calibration in measurement.measure(chosen.votes):
        file = keep_calibration(folder, calibration)
        say(f"\n{calibration_table(calibration)}\nkept in {file}")
    return YES


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        message = "must be 1 or more"
        raise argparse.ArgumentTypeError(message)
    return number
