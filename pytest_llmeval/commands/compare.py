"""``llmeval compare``: how two runs differ, or several side by side."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.commands.console import YES, Commands, say, show
from pytest_llmeval.commands.runs import (
    RUN_HELP,
    add_reports,
    open_standing,
    width_and_color,
    write_page,
)
from pytest_llmeval.errors import UsageError

if TYPE_CHECKING:
    from pytest_llmeval.records import Row
    from pytest_llmeval.results.baseline import Baseline

_PAIR = 2
"""Runs that are told as a and b."""


def declare(commands: Commands) -> None:
    """Add the command."""
    command = commands.add_parser(
        "compare", help="how two runs differ, or several (or one's models) side by side"
    )
    command.add_argument(
        "runs", nargs="+", metavar="RUN", help=f"{RUN_HELP}; a baseline's file will do"
    )
    command.add_argument(
        "--markdown", action="store_true", help="print Markdown, such as for a pull request"
    )
    command.add_argument(
        "--html", type=Path, metavar="FILE", help="also write a page that opens from disk"
    )
    add_reports(command)
    command.set_defaults(run=_run)


def _run(chosen: argparse.Namespace) -> int:
    standings = [open_standing(name, chosen.reports) for name in chosen.runs]
    page = _pair(standings, chosen) if len(standings) == _PAIR else _matrix(standings, chosen)
    if chosen.html is not None:
        write_page(chosen.html, page())
        say(f"written: {chosen.html}")
    return YES


def _pair(standings: Sequence[Baseline], chosen: argparse.Namespace) -> Callable[[], str]:
    """Print how b differs from a, and return what makes its page."""
    from pytest_llmeval.report.markdown import render_comparison_markdown  # noqa: PLC0415 - only this command needs it
    from pytest_llmeval.report.table import render_comparison  # noqa: PLC0415 - as above
    from pytest_llmeval.results.compare import compare  # noqa: PLC0415 - as above

    a, b = standings
    comparison = compare(a.rows, b.rows)
    if not comparison.pairs:
        msg = f"{a.name} and {b.name} have no part in common: same task, test function, and model (or one model each)"
        raise UsageError(msg)
    width, color = width_and_color()
    say(f"a: {a.name}\nb: {b.name}")
    show(
        render_comparison_markdown(comparison)
        if chosen.markdown
        else render_comparison(comparison, width=width, color=color)
    )

    def page() -> str:
        from pytest_llmeval.report.html import render_comparison as render_page  # noqa: PLC0415 - only for --html

        return render_page(comparison, names=(a.name, b.name))

    return page


def _matrix(standings: Sequence[Baseline], chosen: argparse.Namespace) -> Callable[[], str]:
    """Print the runs side by side, and return what makes their page."""
    from pytest_llmeval.report.markdown import render_matrices_markdown  # noqa: PLC0415 - only this command needs it
    from pytest_llmeval.report.table import render_matrices  # noqa: PLC0415 - as above
    from pytest_llmeval.results.matrix import matrices  # noqa: PLC0415 - as above

    found = matrices(_named(standings))
    if not found:
        msg = "there is nothing to compare: name two runs or more, or one that ran several models"
        raise UsageError(msg)
    width, color = width_and_color()
    show(
        render_matrices_markdown(found)
        if chosen.markdown
        else render_matrices(found, width=width, color=color)
    )

    def page() -> str:
        from pytest_llmeval.report.html import render_sheets  # noqa: PLC0415 - only for --html
        from pytest_llmeval.report.matrix_sheet import matrix_sheet  # noqa: PLC0415 - as above

        return render_sheets("Comparison", [matrix_sheet(matrix) for matrix in found])

    return page


def _named(standings: Sequence[Baseline]) -> dict[str, Sequence[Row]]:
    """Return the rows by the name of their run; one named twice is told apart by its place."""
    named: dict[str, Sequence[Row]] = {}
    for place, standing in enumerate(standings, 1):
        named[standing.name if standing.name not in named else f"{standing.name} ({place})"] = (
            standing.rows
        )
    return named
