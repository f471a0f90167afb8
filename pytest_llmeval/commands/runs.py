"""Runs and baselines as commands name them: a path, a name below the reports, or ``latest``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from pytest_llmeval.commands.console import say
from pytest_llmeval.report.left_out import superseded_text
from pytest_llmeval.results.baseline import Baseline, baseline_of_run, is_baseline, read_baseline
from pytest_llmeval.results.stored_run import StoredRun, read_run
from pytest_llmeval.session.cut_off import cut_off_text
from pytest_llmeval.session.named_run import place_of

RUN_HELP: Final = "a run's folder, its name below the reports, or latest"


def open_run(name: str, reports: Path) -> StoredRun:
    """Return the run called `name`; remarks on its files go to standard error."""
    return _remarked(read_run(place_of(name, reports)))


def open_baseline(name: str, reports: Path) -> Baseline:
    """Return the baseline called `name`; a run is one too, with remarks as of `open_run`."""
    place = place_of(name, reports)
    return (
        read_baseline(place) if is_baseline(place) else baseline_of_run(_remarked(read_run(place)))
    )


def _remarked(run: StoredRun) -> StoredRun:
    remarks = [*run.remarks]
    if run.missing:
        remarks.append(f"{cut_off_text(run.missing)}; pytest --llmeval-resume continues it")
    if run.superseded:
        remarks.append(superseded_text(run.superseded))
    for remark in remarks:
        say(f"{run.path.name}: {remark}", sys.stderr)
    return run
