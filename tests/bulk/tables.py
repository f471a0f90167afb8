"""Tables for tests of bulk scoring, and what they are scored by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from pytest_llmeval.bulk.job import Job, ScorerSpec
from pytest_llmeval.bulk.local import scored_here
from pytest_llmeval.bulk.run import BulkRun
from pytest_llmeval.bulk.tally import Tally
from pytest_llmeval.records import Json
from pytest_llmeval.report.progress_line import Progress

OWN = """
import os, signal, time

def obey(answer, sample):
    match (answer or "").split(":"):
        case ["die"]:
            os._exit(3)
        case ["spin"]:
            while True:
                pass
        case ["raise"]:
            raise ValueError("a poor answer")
        case ["exit"]:
            raise SystemExit("out")
        case ["fill"]:
            return len(bytearray(1 << 40))
        case ["print"]:
            print("8 bytes!" * 1000, flush=True)
            return True
        case ["beyond"]:
            return 7.0
        case ["nan"]:
            return float("nan")
        case ["text"]:
            return "yes"
        case ["half"]:
            from pytest_llmeval import Score
            return Score(name="obey", value=1.0, correct=True, explanation="half \\ud800")
        case ["key"]:
            return "OPENAI_API_KEY" in os.environ
        case ["once", file]:
            if not os.path.exists(file):
                open(file, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
            return True
        case ["sleep", seconds]:
            time.sleep(float(seconds))
            return True
    return answer == sample.target
"""
"""A scorer that does what the answer says."""


def job(folder: Path, *scorers: str, options: Mapping[str, Json] | None = None, **more: Any) -> Job:
    """Return a job of scorers by their names; the last one has the options."""
    specs = [ScorerSpec(name=name) for name in scorers[:-1]]
    specs.append(ScorerSpec(name=scorers[-1], options=options or {}))
    return Job(scorers=tuple(specs), folder=str(folder), **more)


def write(path: Path, columns: Mapping[str, Sequence[Any]] | pa.Table, **options: Any) -> Path:
    """Write a table as Parquet."""
    table = columns if isinstance(columns, pa.Table) else pa.table(dict(columns))
    parquet.write_table(table, path, **options)
    return path


def read(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a Parquet file."""
    rows: list[dict[str, Any]] = parquet.ParquetFile(path).read().to_pylist()
    return rows


def score(  # noqa: PLR0913 - the choices of a run
    source: Path,
    wanted: Job,
    out: Path,
    *,
    fields: Sequence[str] = (),
    part_rows: int | None = None,
    processes: int = 1,
    show: Callable[[Progress], None] = lambda _: None,
) -> dict[str, Tally] | None:
    """Score a table in this process, with children."""
    run = BulkRun.open(source, fields, wanted, out, part_rows)
    return run.score(partial(_here, processes), show)


def _here(processes: int, *arguments: Any) -> Any:
    work, advance = arguments
    return scored_here(work, processes, advance)
