"""The shards of one run as one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json, Row, RowKey
from pytest_llmeval.results.entry_key import version_texts
from pytest_llmeval.results.graders import GRADER, conflict
from pytest_llmeval.results.stored_run import StoredRun


def merged_rows(runs: Sequence[StoredRun]) -> tuple[Row, ...]:
    """Return the rows of all runs by their keys.

    UsageError when they cannot be one run: a task, dataset, prompt, grader or engine that differs,
    or a sample that two of them ran. A row "not run" gives way to one of another shard.
    """
    _check_versions(runs)
    merged: dict[RowKey, tuple[Row, StoredRun]] = {}
    for run in runs:
        for row in run.rows:
            known = merged.get(row.key)
            if known is None or known[0].outcome == "not run":
                merged[row.key] = (row, run)
            elif row.outcome != "not run":
                msg = (
                    f"cannot merge: sample {row.sample!r} of {row.task} (model {row.model}, epoch "
                    f"{row.epoch}) is in {known[1].path.name} and in {run.path.name}; "
                    "shards have none in common"
                )
                raise UsageError(msg)
    return tuple(merged[key][0] for key in sorted(merged))


def merged_info(runs: Sequence[StoredRun]) -> dict[str, Json]:
    """Return run.json of the whole: the first shard's facts, the tasks of all, and the shards."""
    tasks: dict[str, Json] = {}
    for run in runs:
        tasks |= _mapping(run.info.get("tasks"))
    first = {
        name: value
        for name, value in runs[0].info.items()
        if name not in {"schema", "started", "resumed"}
    }
    settings = {**_mapping(first.get("settings")), "shard": None, "resume": None}
    merged: list[Json] = [{"run": run.path.name, **run.info} for run in runs]
    planned = len({row.key for run in runs for row in run.rows})
    return {
        **first,
        "settings": settings,
        "tasks": tasks,
        "graders": _graders(runs),
        "planned": planned,
        "merged": merged,
    }


def _graders(runs: Sequence[StoredRun]) -> list[Json]:
    """Return the graders of all shards, each once."""
    graders: list[Json] = []
    for run in runs:
        found = run.info.get("graders")
        graders += [one for one in found if one not in graders] if isinstance(found, list) else []
    return graders


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _check_versions(runs: Sequence[StoredRun]) -> None:
    """Raise UsageError if a task's versions differ from those of the first run that has it."""
    for task in dict.fromkeys(row.task for run in runs for row in run.rows):
        parts = {run.path.name: [row for row in run.rows if row.task == task] for run in runs}
        known = {name: version_texts(rows) for name, rows in parts.items() if rows}
        first = next(iter(known))
        for name, versions in known.items():
            shared = versions.keys() & known[first].keys()
            for what in sorted(name for name in shared if not name.startswith(GRADER)):
                if versions[what] != known[first][what]:
                    msg = (
                        f"cannot merge: {what} of {task} differs: "
                        f"{first} has {known[first][what]}, {name} has {versions[what]}"
                    )
                    raise UsageError(msg)
        if (found := conflict(parts)) is not None:
            score, one, grader, other, another = found
            msg = (
                f"cannot merge: two graders gave the score {score!r} of {task}: {grader} in {one}, "
                f"{another} in {other}; score the answers of one run again by the other's grader: "
                "llmeval rescore RUN"
            )
            raise UsageError(msg)
