"""``llmeval compare``: two runs, several, or the models of one, side by side."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pytest_llmeval.commands.console import NO, YES, StandardOutput, say, show
from pytest_llmeval.commands.runs import RUN_HELP, open_baseline
from pytest_llmeval.commands.session_options import add_options, reports_of, settings_of
from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.atomic import write_atomically
from pytest_llmeval.records import Row
from pytest_llmeval.report.html import render_comparison as comparison_page
from pytest_llmeval.report.html import render_sheets
from pytest_llmeval.report.markdown import render_comparison_markdown, render_matrices_markdown
from pytest_llmeval.report.matrix_sheet import matrix_sheet
from pytest_llmeval.report.table import render_comparison, render_matrices
from pytest_llmeval.results.baseline import Baseline
from pytest_llmeval.results.compare import compare
from pytest_llmeval.results.matrix import matrices

_PAIR: Final = 2
"""Number of runs that are compared as a and b; others are compared in a matrix."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help=f"{RUN_HELP}; also a baseline's file"
    )
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write a page, one file")
    add_options(parser, "report")


def run(chosen: argparse.Namespace) -> int:
    """Print the comparison, and write its page if one is wanted.

    NO if a run was cut off, or if no sample could be compared; standard error says so.
    """
    reports = reports_of(settings_of(chosen))
    runs = [open_baseline(name, reports) for name in chosen.runs]
    found = _Pair(*runs) if len(runs) == _PAIR else _Matrices(runs)
    show(found.markdown if chosen.markdown else found.drawn(StandardOutput()))
    if chosen.html is not None:
        try:
            write_atomically(chosen.html, found.page)
        except OSError as error:
            msg = f"{chosen.html}: cannot be written: {error.strerror or error}"
            raise UsageError(msg) from error
        say(f"written: {chosen.html}")
    for part in found.empty:
        say(f"{part}: no sample was compared: none was scored by all with one target", sys.stderr)
    return NO if found.empty or any(one.missing for one in runs) else YES


class _Pair:
    """How run b differs from run a; their names are printed at once."""

    def __init__(self, a: Baseline, b: Baseline) -> None:
        self._names = (a.name, b.name)
        self._comparison = compare(a.rows, b.rows)
        if not self._comparison.pairs:
            msg = (
                f"{a.name} and {b.name} have no part in common: "
                "same task, test function, and model (or one model each)"
            )
            raise UsageError(msg)
        say(f"a: {a.name}\nb: {b.name}")

    def drawn(self, out: StandardOutput) -> str:
        return render_comparison(self._comparison, width=out.width, color=out.color)

    @property
    def markdown(self) -> str:
        return render_comparison_markdown(self._comparison)

    @property
    def page(self) -> str:
        return comparison_page(self._comparison, names=self._names)

    @property
    def empty(self) -> list[str]:
        """The tasks of which no sample was compared."""
        return [f"{pair.task} · {pair.model_b}" for pair in self._comparison.pairs if not pair.n]


class _Matrices:
    """Several runs, or the models of one, side by side."""

    def __init__(self, runs: Sequence[Baseline]) -> None:
        self._matrices = matrices(_by_name(runs))
        if not self._matrices:
            msg = (
                "there is nothing to compare: name two runs or more, or one that ran several models"
            )
            raise UsageError(msg)

    def drawn(self, out: StandardOutput) -> str:
        return render_matrices(self._matrices, width=out.width, color=out.color)

    @property
    def markdown(self) -> str:
        return render_matrices_markdown(self._matrices)

    @property
    def empty(self) -> list[str]:
        """The tasks of which no sample was compared."""
        return [matrix.task for matrix in self._matrices if not matrix.n]

    @property
    def page(self) -> str:
        return render_sheets("Comparison", [matrix_sheet(matrix) for matrix in self._matrices])


def _by_name(runs: Sequence[Baseline]) -> dict[str, Sequence[Row]]:
    """Return the rows by the name of their run; a repeated name gets its number in `runs`."""
    named: dict[str, Sequence[Row]] = {}
    for number, one in enumerate(runs, 1):
        named[one.name if one.name not in named else f"{one.name} ({number})"] = one.rows
    return named
