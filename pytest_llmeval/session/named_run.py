"""Runs by name: a path, a name in the folder of runs, or ``latest``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pytest_llmeval.errors import UsageError
from pytest_llmeval.results.run import Run
from pytest_llmeval.session.options import options_called
from pytest_llmeval.session.project_options import ProjectOptions
from pytest_llmeval.session.resolve import value_of

REPORTS: Final = "reports"
"""The folder of runs where no option, variable or ini key names one."""

_SHOWN: Final = 5
"""Runs that an error names."""


def load_run(name: str | Path = "latest", *, reports: str | Path | None = None) -> Run:
    """Return a stored run as data: its rows, transcripts, figures and settings.

        run = load_run("latest")
        run.dataframe().groupby("model", observed=True)["correct"].mean()

    Args:
        name: a run's folder, its name in the folder of runs, or ``latest``.
        reports: the folder of runs; None means that of ``llmeval``: the variable
            ``LLMEVAL_REPORT``, else the project's ini key ``llmeval_report``, else ``reports``.

    Raises:
        UsageError: there is no such run; the message names the runs that there are.
    """
    folder = _reports() if reports is None else Path(reports)
    return Run.open(place_of(str(name), folder, "reports=DIR"))


def place_of(name: str, reports: Path, option: str = "--report DIR") -> Path:
    """Return the path of the run or baseline called `name`.

    Args:
        name: a path, a name in `reports` or its ``baselines``, or ``latest``.
        reports: the folder of runs.
        option: how another one is named, for errors.

    Raises:
        UsageError: there is none; the message names the runs there are.
    """
    for place in (Path(name), reports / name, reports / "baselines" / name):
        if place.exists():
            return place
    runs = sorted((path.name for path in reports.glob("*Z-*")), reverse=True)[:_SHOWN]
    there = f"runs there, newest first: {', '.join(runs)}" if runs else "there are no runs there"
    msg = (
        f"{name}: no such run, neither as a path nor in {reports} ({there}); "
        f"{option} names another folder"
    )
    raise UsageError(msg)


def _reports() -> Path:
    """Return the folder of runs that variable or ini key name, else `REPORTS`."""
    [option] = options_called(["report"])
    found = value_of(option, ProjectOptions())
    return Path(REPORTS if found is None else found)
