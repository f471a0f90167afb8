"""``llmeval plot``: a forest plot of one run or several, for a paper."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_llmeval.commands.console import YES, say
from pytest_llmeval.commands.runs import RUN_HELP, open_run
from pytest_llmeval.commands.session_options import add_options, reports_of, settings_of
from pytest_llmeval.errors import UsageError
from pytest_llmeval.report.figures.forest import ACCURACY, Forest, forest_of
from pytest_llmeval.report.figures.forest_plot import FORMS, drawn
from pytest_llmeval.results.summary import Summary
from pytest_llmeval.session.stored import stored_findings

_NARROWEST, _WIDEST = 2.5, 20.0
"""Inches that a figure may be wide."""


EXAMPLES = (
    "llmeval plot latest --to accuracy.pdf",
    "llmeval plot reports/A reports/B --name before --name after --to accuracy.svg",
    "llmeval plot latest --metric EED --task sums --width 3.3 --to column.pdf",
)
"""Command lines that the help shows."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add = parser.add_argument
    add("runs", nargs="+", metavar="RUN", help=f"{RUN_HELP}; several stand side by side")
    add("--to", type=Path, required=True, metavar="FILE", help="the file: .svg, .pdf or .png")
    add("--metric", default=ACCURACY, metavar="NAME", help="a score or metric (accuracy)")
    add("--task", action="append", default=[], metavar="NAME", help="only this task, repeatable")
    add("--name", action="append", default=[], metavar="TEXT", help="of a run, in their order")
    add(
        "--width",
        type=_inches,
        default=7.0,
        metavar="INCHES",
        help="of the figure: a page has about 7, a column of two 3.3 (7)",
    )
    add_options(parser, "report")


def run(chosen: argparse.Namespace) -> int:
    """Write the figure, and say which tasks it leaves out."""
    form = chosen.to.suffix.removeprefix(".").lower()
    if form not in FORMS:
        msg = f"--to {chosen.to}: a figure is a file that ends in .{', .'.join(FORMS)}"
        raise UsageError(msg)
    reports = reports_of(settings_of(chosen))
    stored = [open_run(name, reports) for name in chosen.runs]
    names = list(_names([one.path.name for one in stored], chosen.name))
    runs: dict[str, Summary] = {
        name: stored_findings(one).summary for name, one in zip(names, stored, strict=True)
    }
    forest = forest_of(runs, metric=chosen.metric, tasks=chosen.task)
    _write(forest, chosen.to, form, chosen.width)
    lines = sum(len(group.lines) for group in forest.groups)
    say(f"written: {chosen.to} (lines: {lines:,}, tasks: {len(forest.groups):,})")
    if forest.left_out:
        say(f"left out, without {forest.metric}: {', '.join(forest.left_out)}", sys.stderr)
    return YES


def _write(forest: Forest, file: Path, form: str, width: float) -> None:
    data = drawn(forest, form, width=width)
    try:
        file.write_bytes(data)
    except OSError as error:
        msg = f"{file}: cannot be written: {error.strerror or error}"
        raise UsageError(msg) from error


def _names(folders: Sequence[str], given: Sequence[str]) -> Iterator[str]:
    """Yield the names of runs, no two alike: those that are given, else those of the folders."""
    if len(given) > len(folders):
        msg = f"--name: {len(given)} names for {len(folders)} runs"
        raise UsageError(msg)
    taken = set()
    for number, name in enumerate([*given, *folders[len(given) :]], 1):
        taken.add(own := f"{name} ({number})" if name in taken else name)
        yield own


def _inches(text: str) -> float:
    value = float(text)
    if not _NARROWEST <= value <= _WIDEST:
        msg = f"{text} is not between {_NARROWEST:g} and {_WIDEST:g}"
        raise argparse.ArgumentTypeError(msg)
    return value
