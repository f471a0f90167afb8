"""The shards of a run as one run with a folder of its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from pytest_llmeval.engine.replies import IMAGES, REPLIES, ReplyStore
from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.results.merge import merged_info, merged_rows
from pytest_llmeval.results.questions import read_questions
from pytest_llmeval.results.store import RunFolder
from pytest_llmeval.results.stored_run import StoredRun, read_transcripts
from pytest_llmeval.results.stored_tasks import stored_tasks
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.session.conclusion import Conclusion
from pytest_llmeval.session.findings import Findings, write_findings


def merge(runs: Sequence[StoredRun], reports: Path) -> Conclusion:
    """Write the run that shards are together into `reports`, and return its conclusion.

    Raises:
        UsageError: the runs are no finished shards of one run, or a file cannot be written.
    """
    _check(runs)
    rows = merged_rows(runs)
    infos = {task: info for run in runs for task, info in stored_tasks(run).items()}
    redactor = Redactor.of(os.environ)
    with closing(RunFolder.create(reports, merged_info(runs), redactor=redactor)) as folder:
        try:
            for row in rows:
                folder.add_row(row)
            folder.add_questions(question for run in runs for question in read_questions(run.path))
            for run in runs:
                _copy(run, folder)
            found = Findings(rows=rows, summary=summarise(rows, infos))
        except OSError as error:
            msg = f"{folder.path}: the merged run cannot be written: {error.strerror or error}"
            raise UsageError(msg) from error
        unwritten = write_findings(folder.files, found)
    return Conclusion(found=found, path=folder.path, effort=None, unwritten=unwritten)


def _check(runs: Sequence[StoredRun]) -> None:
    places = [run.path for run in runs]
    if len(places) < 2 or len(set(places)) < len(places):  # noqa: PLR2004 - one run needs no merging
        msg = "name two runs or more, each once"
        raise UsageError(msg)
    for run in runs:
        if run.missing:
            msg = (
                f"{run.path.name} was cut off; continue it first (pytest --llmeval-resume), "
                "or leave it out"
            )
            raise UsageError(msg)


def _copy(run: StoredRun, folder: RunFolder) -> None:
    """Copy transcripts, pictures and replies, so that the whole can be resumed or scored again."""
    reached = {row.key for row in run.rows if row.outcome != "not run"}
    for key, transcript in read_transcripts(run.path):
        if key in reached:
            folder.add_transcript(key, transcript)
    if (run.path / IMAGES).is_dir():
        shutil.copytree(run.path / IMAGES, folder.path / IMAGES, dirs_exist_ok=True)
    if (run.path / REPLIES).is_file():
        with closing(ReplyStore(folder.path / REPLIES)) as store:
            store.absorb(run.path / REPLIES)
