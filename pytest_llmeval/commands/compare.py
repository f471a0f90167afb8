"""``llmeval compare``: two runs, several, or the models or tasks of one, side by side."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pytest_llmeval.commands.console import NO, YES, StandardOutput, say, show
from pytest_llmeval.commands.runs import RUN_HELP, open_baseline
from pytest_llmeval.commands.session_options import add_options, reports_of, settings_of
from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.atomic import write_atomically
from pytest_llmeval.records import Row
from pytest_llmeval.report.comparison_sheet import comparison_sheets
from pytest_llmeval.report.comparison_table import comparison_table
from pytest_llmeval.report.html import render_comparison as comparison_page
from pytest_llmeval.report.html import render_sheets as sheets_page
from pytest_llmeval.report.left_out import use_text
from pytest_llmeval.report.markdown import (
    render_comparison_markdown,
    render_left_out_markdown,
    render_sheets_markdown,
)
from pytest_llmeval.report.matrix_sheet import matrix_name, matrix_sheet
from pytest_llmeval.report.pipeline_sheet import PIPELINES
from pytest_llmeval.report.side import Side
from pytest_llmeval.report.table import render_sheets
from pytest_llmeval.results.baseline import Baseline
from pytest_llmeval.results.compare import compare
from pytest_llmeval.results.matrix import Matrix, matrices, uses_in
from pytest_llmeval.results.pipelines import pipelines
from pytest_llmeval.results.row_use import RowUse
from pytest_llmeval.results.task_info import TaskInfo
from pytest_llmeval.session.printout import page_of

_PAIR: Final = 2
"""Number of runs that are compared as a and b; others are compared in a matrix."""


EXAMPLES = (
    "llmeval compare reports/A reports/B",
    "llmeval compare main.jsonl latest --markdown",
    "llmeval compare reports/A reports/B --html comparison.html",
    "llmeval compare latest --by task",
)
"""Command lines that the help shows."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help=f"{RUN_HELP}; also a baseline's file"
    )
    parser.add_argument(
        "--by",
        choices=("model", "task"),
        default="model",
        help="what is side by side: runs and models of a task (default), or the tasks of a model",
    )
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write a page, one file")
    add_options(parser, "report", "groups")


def run(chosen: argparse.Namespace) -> int:
    """Print the comparison and what it left out, and write its page if one is wanted.

    NO if a run was cut off, or if a part of both runs has no sample that could be compared;
    standard error says so.
    """
    settings = settings_of(chosen)
    reports = reports_of(settings)
    runs = [open_baseline(name, reports) for name in chosen.runs]
    found: _Pair | _Sheets
    if chosen.by == "task":
        found = _by_task(runs)
    else:
        found = _Pair(*runs, groups=settings.groups) if len(runs) == _PAIR else _side_by_side(runs)
    left_out = [use_text(name, use) for name, use in found.uses.items()]
    if chosen.markdown:
        show(render_left_out_markdown(found.markdown, left_out))
    else:
        say("\n".join(left_out))
        show(found.drawn(StandardOutput()))
    if chosen.html is not None:
        try:
            write_atomically(chosen.html, found.page)
        except OSError as error:
            msg = f"{chosen.html}: cannot be written: {error.strerror or error}"
            raise UsageError(msg) from error
        say(f"written: {chosen.html}")
    for part in found.empty:
        say(f"{part}: no sample was compared: none was scored by all with one target", sys.stderr)
    return NO if found.empty or any(one.missing or one.cut for one in runs) else YES


class _Pair:
    """How run b differs from run a; their names are printed at once."""

    def __init__(self, a: Baseline, b: Baseline, *, groups: bool) -> None:
        self._sides, self._groups = (Side.of_baseline(a), Side.of_baseline(b)), groups
        self._comparison = compare(a.rows, b.rows)
        if not self._comparison.pairs:
            msg = (
                f"{a.name} and {b.name} have no part in common: "
                "same task, test function, and model (or one model each)"
            )
            raise UsageError(msg)

    @property
    def uses(self) -> Mapping[str, RowUse]:
        """What became of the rows of both runs."""
        names = (f"{letter}: {side.name}" for letter, side in zip("ab", self._sides, strict=True))
        return dict(zip(names, self._comparison.uses, strict=True))

    def drawn(self, out: StandardOutput) -> str:
        table = comparison_table(self._comparison)
        sheets = comparison_sheets(self._comparison) if self._groups else (table,)
        return render_sheets(sheets, **page_of(out))

    @property
    def markdown(self) -> str:
        return render_comparison_markdown(self._comparison)

    @property
    def page(self) -> str:
        return "".join(comparison_page(self._comparison, *self._sides))

    @property
    def empty(self) -> list[str]:
        """The tasks of which no sample was compared."""
        return [f"{pair.task} · {pair.model_b}" for pair in self._comparison.pairs if not pair.n]


class _Sheets:
    """Several runs, models or tasks side by side."""

    def __init__(
        self, runs: Mapping[str, Sequence[Row]], matrices: Sequence[Matrix], title: str = ""
    ) -> None:
        self._runs = runs
        self._matrices = matrices
        self._sheets = [matrix_sheet(matrix, title) for matrix in matrices]

    def drawn(self, out: StandardOutput) -> str:
        return render_sheets(self._sheets, **page_of(out))

    @property
    def markdown(self) -> str:
        return render_sheets_markdown(self._sheets)

    @property
    def uses(self) -> Mapping[str, RowUse]:
        """What became of the rows of each run."""
        return uses_in(self._matrices, self._runs)

    @property
    def empty(self) -> list[str]:
        """What is common to contenders of which no sample was compared."""
        return [matrix_name(matrix) for matrix in self._matrices if not matrix.n]

    @property
    def page(self) -> str:
        return sheets_page("Comparison", self._sheets)


def _side_by_side(runs: Sequence[Baseline]) -> _Sheets:
    named = _by_name(runs)
    found = matrices(named, _tasks(runs))
    if not found:
        msg = (
            "there is nothing to compare: name two runs or more, one that ran several models, or "
            "one whose tasks asked the same questions, with --by task"
        )
        raise UsageError(msg)
    return _Sheets(named, found)


def _by_task(runs: Sequence[Baseline]) -> _Sheets:
    """Return the tasks that asked the same questions, for each model."""
    named = _by_name(runs)
    found = pipelines(named, _tasks(runs))
    if not found:
        known = any(row.question for one in runs for row in one.rows)
        why = (
            "no two tasks asked a model the same samples (id, input, pictures and target)"
            if known
            else "runs and baselines of earlier versions do not tell what their samples asked: "
            "score the run again (llmeval rescore RUN)"
        )
        msg = f"there are no tasks to compare: {why}"
        raise UsageError(msg)
    return _Sheets(named, [one.matrix for one in found], PIPELINES)


def _tasks(runs: Sequence[Baseline]) -> dict[str, TaskInfo]:
    return {name: info for one in runs for name, info in one.tasks.items()}


def _by_name(runs: Sequence[Baseline]) -> dict[str, Sequence[Row]]:
    """Return the rows by the name of their run; a repeated name gets its number in `runs`."""
    named: dict[str, Sequence[Row]] = {}
    for number, one in enumerate(runs, 1):
        named[one.name if one.name not in named else f"{one.name} ({number})"] = one.rows
    return named
