"""A row as one line of a table: a name and a plain value for each column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from pytest_llmeval.records import Outcome, Row, Usage
from pytest_llmeval.results.rows import last_scores

Value: TypeAlias = str | bool | int | float | tuple[str, ...] | None
"""A value of a table; a tuple holds tags, or the values of a group."""

SCORE: Final = "score:"
CORRECT: Final = "correct:"
GROUP: Final = "group:"
DETAIL: Final = "detail:"
"""How the names of columns begin that not all runs have; the name of the score (its value, and
whether it says correct), group or detail follows."""

_CORRECT: Final[Mapping[Outcome, bool]] = {"correct": True, "incorrect": False}

_USAGE: Final = tuple(name for name in Usage.__struct_fields__ if name != "cost")


def flat_row(row: Row) -> dict[str, Value]:
    """Return the columns of a row, in order.

    Those that every run has come first, from `test` to `nodeid`. Then come ``score:NAME`` and
    ``correct:NAME`` (of several scores of a name the last counts), ``group:NAME`` and
    ``detail:NAME``; a detail that is a list or an object has no column.
    """
    columns: dict[str, Value] = {
        "test": row.test,
        "task": row.task,
        "sample": row.sample,
        "model": row.model,
        "epoch": row.epoch,
        "outcome": row.outcome,
        "correct": _CORRECT.get(row.outcome),
        "answer": row.answer,
        "target": row.target_text,
        "explanation": row.explanation,
        "tags": row.tags,
        "stop_reason": row.stop_reason,
        **{name: getattr(row.usage, name) for name in _USAGE},
        "cost": row.usage.cost,
        "seconds": row.seconds,
        "cached": row.cached,
        "age": row.age,
        "recorded": row.recorded,
        "reports": row.reports,
        "engine": row.engine,
        "stands_in_for": row.stands_in_for,
        "worker": row.worker,
        "order": row.order,
        "question": row.question,
        "nodeid": row.nodeid,
    }
    for name, score in last_scores(row).items():
        columns[f"{SCORE}{name}"] = score.value
        columns[f"{CORRECT}{name}"] = score.correct
    columns.update({f"{GROUP}{name}": values for name, values in row.groups.items()})
    columns.update(
        {
            f"{DETAIL}{name}": value
            for name, value in row.details.items()
            if not isinstance(value, list | dict)
        }
    )
    return columns
