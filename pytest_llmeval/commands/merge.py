"""``llmeval merge``: the shards of a run as one run."""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.commands.console import YES, Commands, say, show
from pytest_llmeval.commands.runs import (
    RUN_HELP,
    add_reports,
    missing_rows,
    open_run,
    width_and_color,
)
from pytest_llmeval.errors import UsageError

if TYPE_CHECKING:
    from pytest_llmeval.results.store import RunFolder, StoredRun
    from pytest_llmeval.results.summary import Summary


def declare(commands: Commands) -> None:
    """Add the command."""
    command = commands.add_parser(
        "merge", help="make one run of the shards of one (--llmeval-shard)"
    )
    command.add_argument("names", nargs="+", metavar="RUN", help=RUN_HELP)
    add_reports(command)
    command.set_defaults(run=_run)


def _run(chosen: argparse.Namespace) -> int:
    from pytest_llmeval.report.table import render_table  # noqa: PLC0415 - only this command needs it

    runs = [open_run(name, chosen.reports) for name in chosen.names]
    _check(runs)
    folder, table = _merged(runs, chosen.reports)
    width, color = width_and_color()
    show(render_table(table, width=width, color=color))
    say(f"run: {folder}")
    return YES


def _check(runs: Sequence[StoredRun]) -> None:
    """Refuse what is no set of finished shards."""
    places = [run.path for run in runs]
    if len(places) < 2 or len(set(places)) < len(places):  # noqa: PLR2004 - one run needs no merging
        msg = "name two runs or more, each once"
        raise UsageError(msg)
    for run in runs:
        if missing_rows(run):
            msg = f"{run.path.name} was cut off; go on with it first (pytest --llmeval-resume), or leave it out"
            raise UsageError(msg)


def _merged(runs: Sequence[StoredRun], reports: Path) -> tuple[Path, Summary]:
    """Write the run that the shards are together, and return its folder and figures."""
    from pytest_llmeval.files.redaction import Redactor  # noqa: PLC0415 - as above
    from pytest_llmeval.results.merge import merged_info, merged_rows  # noqa: PLC0415 - as above
    from pytest_llmeval.results.metrics import summarise  # noqa: PLC0415 - as above
    from pytest_llmeval.results.store import RunFolder  # noqa: PLC0415 - as above
    from pytest_llmeval.results.stored_tasks import stored_tasks  # noqa: PLC0415 - as above
    from pytest_llmeval.session.findings import Findings, write_findings  # noqa: PLC0415 - only this command needs it

    rows = merged_rows(runs)
    infos = {task: info for run in runs for task, info in stored_tasks(run).items()}
    folder = RunFolder.create(reports, merged_info(runs), redactor=Redactor.of(os.environ))
    try:
        for row in rows:
            folder.add_row(row)
        _gather(folder, runs)
        found = Findings(rows=rows, summary=summarise(rows, infos))
        write_findings(folder.files, found)
    except OSError as error:
        msg = f"{folder.path}: the merged run cannot be written: {error.strerror or error}"
        raise UsageError(msg) from error
    finally:
        folder.close()
    return folder.path, found.summary


def _gather(folder: RunFolder, runs: Sequence[StoredRun]) -> None:
    """Copy transcripts, pictures and stored replies, so that the whole can be resumed and scored again."""
    from pytest_llmeval.engine.replies import IMAGES, REPLIES, ReplyStore  # noqa: PLC0415 - as above
    from pytest_llmeval.results.store import read_transcripts  # noqa: PLC0415 - as above

    store = ReplyStore(folder.path / REPLIES)
    try:
        for run in runs:
            reached = {row.key for row in run.rows if row.outcome != "not run"}
            for key, transcript in read_transcripts(run.path):
                if key in reached:
                    folder.add_transcript(key, transcript)
            if (run.path / IMAGES).is_dir():
                shutil.copytree(run.path / IMAGES, folder.path / IMAGES, dirs_exist_ok=True)
            if (run.path / REPLIES).is_file():
                store.absorb(run.path / REPLIES)
    finally:
        store.close()
