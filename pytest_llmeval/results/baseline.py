"""A baseline: a run that later runs are compared with, as a small file that diffs well."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any, Final, cast

from msgspec.structs import replace

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.atomic import write_atomically
from pytest_llmeval.records import Json, Row, Score
from pytest_llmeval.results.entry_key import EntryKey, rows_by_entry, version_texts
from pytest_llmeval.results.gate_values import baseline_values
from pytest_llmeval.results.graders import GRADER, graders_of
from pytest_llmeval.results.stored_run import StoredRun, read_run
from pytest_llmeval.results.stored_tasks import stored_tasks
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.results.summary import Summary
from pytest_llmeval.results.targets import UNKNOWN_ANSWER, answer_digest, target_digest
from pytest_llmeval.results.task_info import TaskInfo
from pytest_llmeval.safety.regular_files import open_regular

SCHEMA: Final = 1
"""Version of the file; it stands in its first line."""

_MAX_BYTES: Final = 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A run's name, its rows, and the values of each part by metric.

    A row that was read from a file has only what a comparison needs: key, outcome, scores,
    versions, and the digests of question, target and answer. Of a run, `missing` counts the planned
    samples without a row, `cut` tells that a line of its rows was cut off, `superseded` counts the
    lines that a later one replaced, `tasks` is what is known of its tasks, by name, and `run` is
    what it was made of, for questions and evidence.
    """

    name: str
    rows: tuple[Row, ...]
    metrics: Mapping[EntryKey, Mapping[str, float | None]]
    missing: int = 0
    cut: bool = False
    superseded: int = 0
    tasks: Mapping[str, TaskInfo] = field(default_factory=dict)
    run: StoredRun | None = None


def baseline_of(name: str, rows: Iterable[Row], summary: Summary) -> Baseline:
    """Return a run as a baseline; `summary` is that of its rows."""
    metrics = {
        EntryKey(entry.task, entry.test, entry.model): baseline_values(entry)
        for entry in summary.entries
    }
    return Baseline(name=name, rows=tuple(rows), metrics=metrics)


def write_baseline(baseline: Baseline, path: Path) -> None:
    """Replace the file at `path`; UsageError when it cannot be written.

    One line a sample, in the order of tasks and ids, so that a diff shows the samples that changed.
    """
    text = "".join(
        json.dumps(line, separators=(", ", ": "), allow_nan=False) + "\n"
        for line in _lines(baseline)
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
    except OSError as error:
        msg = f"{path}: the baseline cannot be written: {error.strerror or error}"
        raise UsageError(msg) from error


def read_baseline(path: Path) -> Baseline:
    """Return the baseline in a file, or a run's folder as one; UsageError names a wrong line."""
    return _parsed(path) if is_baseline(path) else baseline_of_run(read_run(path))


def is_baseline(path: Path) -> bool:
    """Whether a path is that of a baseline's file, not of a run."""
    return path.is_file() and path.suffix == ".jsonl"


def baseline_of_run(run: StoredRun) -> Baseline:
    """Return a stored run as a baseline."""
    # A baseline has no figures of groups.
    tasks = {name: replace(info, group_by=()) for name, info in stored_tasks(run).items()}
    found = baseline_of(run.path.name, run.rows, summarise(run.rows, tasks))
    return replaced(
        found,
        missing=run.missing,
        cut=bool(run.remarks),
        superseded=run.superseded,
        tasks=stored_tasks(run),
        run=run,
    )


def _lines(baseline: Baseline) -> Iterator[dict[str, Json]]:
    yield {"schema": SCHEMA, "run": baseline.name}
    for part, rows in sorted(rows_by_entry(baseline.rows).items()):
        versions = version_texts(rows)
        scores = [score for row in rows for score in row.scores]
        scales = {score.name: score.scale for score in scores}
        aside = sorted({score.name for score in scores if not score.decides})
        yield {
            **cast("dict[str, Json]", part._asdict()),
            "versions": cast("dict[str, Json]", versions),
            "metrics": cast("dict[str, Json]", dict(baseline.metrics.get(part, {}))),
            "scales": cast("dict[str, Json]", scales),
            **({"aside": [*aside]} if aside else {}),
        }
        for row in rows:
            yield _sample_line(row, versions)


def _sample_line(row: Row, versions: Mapping[str, str]) -> dict[str, Json]:
    """Return a row's line, with the graders that are not those of its whole part."""
    scores: dict[str, Json] = {score.name: score.value for score in row.scores}
    graders: dict[str, Json] = {
        name: text
        for name, text in graders_of(row).items()
        if text != versions.get(f"{GRADER}{name}", "")
    }
    return {
        "sample": row.sample,
        "epoch": row.epoch,
        "outcome": row.outcome,
        "scores": scores,
        "target": target_digest(row.dataset_target),
        **({"question": row.question} if row.question else {}),
        "answer": answer_digest(row.answer),
        **({"graders": graders} if graders else {}),
    }


def _parsed(path: Path) -> Baseline:
    name, rows, metrics = "", [], {}
    part: dict[str, Any] | None = None
    number = 0
    try:
        with io.TextIOWrapper(open_regular(path, max_bytes=_MAX_BYTES), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                data = json.loads(line)
                if number == 1:
                    name = _header(data, path)
                elif "sample" in data:
                    rows.append(_row(data, cast("dict[str, Any]", part)))
                else:
                    part = data
                    metrics[EntryKey(data["task"], data["test"], data["model"])] = data["metrics"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        msg = f"{path}:{number}: not a line of a baseline ({type(error).__name__}: {error})"
        raise UsageError(msg) from error
    except OSError as error:
        msg = f"{path}: the baseline cannot be read: {error.strerror or error}"
        raise UsageError(msg) from error
    if number == 0:
        msg = (
            f"{path}: an empty file is no baseline; "
            f"make one with: llmeval baseline set RUN --to {path}"
        )
        raise UsageError(msg)
    return Baseline(name=name, rows=tuple(rows), metrics=metrics)


def _header(data: dict[str, Json], path: Path) -> str:
    if data.get("schema") != SCHEMA or "run" not in data:
        msg = (
            f"{path}: no baseline of schema {SCHEMA}; "
            f"make it anew with: llmeval baseline set RUN --to {path}"
        )
        raise UsageError(msg)
    return str(data["run"])


def _row(data: dict[str, Any], part: dict[str, Any]) -> Row:
    aside, graders = part.get("aside", ()), data.get("graders", {})
    return Row(
        test=part["test"],
        task=part["task"],
        sample=data["sample"],
        model=part["model"],
        epoch=data["epoch"],
        nodeid="",
        outcome=data["outcome"],
        scores=tuple(
            Score(
                name=name,
                value=value,
                scale=part["scales"][name],
                correct=None,
                grader=graders.get(name, ""),
                decides=name not in aside,
            )
            for name, value in data["scores"].items()
        ),
        target=data["target"],
        question=data.get("question", ""),
        answer=data.get("answer", UNKNOWN_ANSWER),
        versions=part["versions"],
    )
