"""Run folders made of rows, for tests of what reads them (tests/ is on the path)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp

from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import Row, RowKey, Transcript
from pytest_llmeval.results.run import Run
from pytest_llmeval.results.run_files import SUMMARY
from pytest_llmeval.results.store import RunFolder
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.results.task_info import TaskInfo

STARTED = datetime(2026, 11, 23, 7, 18, 17, tzinfo=UTC)


def stored(
    folder: Path,
    rows: Iterable[Row],
    transcripts: Mapping[RowKey, Transcript] | None = None,
    infos: Mapping[str, TaskInfo] | None = None,
) -> Run:
    """Write a run that ended into a new folder of runs below `folder`, and return it as data."""
    kept = tuple(rows)
    reports = Path(mkdtemp(dir=folder))
    with closing(
        RunFolder.create(
            reports, {"planned": len(kept)}, redactor=Redactor(secrets={}), started=STARTED
        )
    ) as run:
        for row in kept:
            run.add_row(row)
        for key, transcript in (transcripts or {}).items():
            run.add_transcript(key, transcript)
        run.files.json(SUMMARY, summarise(kept, infos or {}).to_json())
    return Run.open(run.path)
