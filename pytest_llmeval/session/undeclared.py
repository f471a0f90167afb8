"""Scorers that decided although their task does not declare them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pytest_llmeval.records import Row, Score
from pytest_llmeval.task.catalog import LoadedTask
from pytest_llmeval.task.declared import DeclaredScorer


def undeclared_scorers(
    scores: Sequence[Score], declared: Sequence[DeclaredScorer]
) -> tuple[str, ...]:
    """Return the names of deciding scores that a task does not declare.

    A task without scorers leaves the choice to its tests, so nothing is undeclared there.
    """
    names = {one.scorer.name for one in declared}
    found = {score.name for score in scores if score.decides and score.name not in names}
    return tuple(sorted(found)) if names else ()


def undeclared_remarks(rows: Iterable[Row], loaded: Mapping[str, LoadedTask]) -> tuple[str, ...]:
    """Return one line for each task of which undeclared scorers decided rows.

    Args:
        rows: the rows of the run.
        loaded: the tasks by name.
    """
    found: dict[str, set[str]] = {}
    for row in rows:
        declared = loaded[row.task].scorers if row.task in loaded else ()
        if names := undeclared_scorers(row.scores, declared):
            found.setdefault(row.task, set()).update(names)
    return tuple(
        f"task {task!r} declares {_listed(one.scorer.name for one in loaded[task].scorers)}, "
        f"but tests of it were decided by {_listed(sorted(names))}: declare what decides as "
        "`scorer:` in the task file, or call assert_correct(sample, completion)"
        for task, names in sorted(found.items())
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
