"""How commands name runs: a path, a folder's name below the reports, or ``latest``."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_llmeval.errors import UsageError

if TYPE_CHECKING:
    from pytest_llmeval.results.baseline import Baseline
    from pytest_llmeval.results.store import StoredRun

RUN_HELP: Final = "a run's folder, its name below the reports, or latest"

_SHOWN: Final = 5
"""Runs named in an error."""


def add_reports(parser: argparse.ArgumentParser) -> None:
    """Add the option for the folder in which runs are looked up by name."""
    default = Path(os.environ.get("LLMEVAL_REPORT") or "reports")
    parser.add_argument(
        "--reports",
        type=Path,
        default=default,
        metavar="DIR",
        help="folder of runs, for their names (%(default)s)",
    )


def place_of(name: str, reports: Path) -> Path:
    """Return where the run or baseline called `name` lies; UsageError names the runs there are."""
    for place in (Path(name), reports / name, reports / "baselines" / name):
        if place.exists():
            return place
    runs = (
        sorted((path.name for path in reports.glob("*Z-*")), reverse=True)
        if reports.is_dir()
        else []
    )
    there = (
        f"runs there, newest first: {', '.join(runs[:_SHOWN])}"
        if runs
        else "there are no runs there"
    )
    msg = f"{name}: no such run, neither as a path nor in {reports} ({there}); --reports DIR names another folder"
    raise UsageError(msg)


def open_run(name: str, reports: Path) -> StoredRun:
    """Return the run called `name`; what is odd about its files is told on standard error."""
    from pytest_llmeval.commands.console import say  # noqa: PLC0415 - beside the reading
    from pytest_llmeval.results.store import read_run  # noqa: PLC0415 - for commands on runs

    run = read_run(place_of(name, reports))
    for remark in (*run.remarks, *_cut_off(run)):
        say(f"{run.path.name}: {remark}", sys.stderr)
    return run


def open_standing(name: str, reports: Path) -> Baseline:
    """Return the run or baseline called `name`, to hold others against."""
    from pytest_llmeval.results.baseline import read_baseline  # noqa: PLC0415 - for commands that compare

    return read_baseline(place_of(name, reports))


def missing_rows(run: StoredRun) -> int:
    """Return how many planned samples have no row: a run that was killed could not account for them."""
    sessions = [run.info, *run.info.get("resumed", ())]  # type: ignore[misc]  # as run.json says it
    planned = max((int(session.get("planned", 0)) for session in sessions), default=0)
    return max(0, planned - len(run.rows))


def width_and_color() -> tuple[int, bool]:
    """Return how wide standard output is, and whether it takes colours."""
    color = (
        sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )
    return max(40, shutil.get_terminal_size((100, 24)).columns), color


def _cut_off(run: StoredRun) -> tuple[str, ...]:
    missing = missing_rows(run)
    said = f"{missing:,} planned samples have no row: the run was cut off; pytest --llmeval-resume goes on with it"
    return (said,) if missing else ()


def write_page(path: Path, text: str) -> None:
    """Write a page; UsageError when it cannot be written."""
    from pytest_llmeval.results.store import write_atomically  # noqa: PLC0415 - for who asks for a page

    try:
        write_atomically(path, text)
    except OSError as error:
        msg = f"{path}: cannot be written: {error.strerror or error}"
        raise UsageError(msg) from error
