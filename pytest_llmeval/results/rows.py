"""Sets of rows: the last one of each key, parts, and what versions they hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from pytest_llmeval.records import Row, RowKey, Score

SCORED = frozenset({"correct", "incorrect"})
"""The outcomes that are a finding about the model: the denominator of accuracy."""

ENGINE = "engine"
"""The name of what answered the uses of tools, beside the names of versions."""

ROLE = "role:"
"""How the name of a version begins that is the model which solvers asked in a role."""

_Key = TypeVar("_Key", bound=Hashable)


def latest(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return the rows with the last one of each key, at the place where the key first stood."""
    by_key: dict[RowKey, Row] = {}
    for row in rows:
        by_key[row.key] = row
    return tuple(by_key.values())


def parted(rows: Iterable[Row], by: Callable[[Row], _Key]) -> dict[_Key, list[Row]]:
    """Return the rows by the key that `by` gives them, keys and rows in order of appearance."""
    parts: dict[_Key, list[Row]] = defaultdict(list)
    for row in rows:
        parts[by(row)].append(row)
    return parts


def last_scores(row: Row) -> dict[str, Score]:
    """Return a row's scores by name; of several under one name the last counts."""
    return {score.name: score for score in row.scores}


def versions_met(rows: Iterable[Row]) -> dict[str, tuple[str, ...]]:
    """Return every version that the rows hold of each thing, such as of a grader; and engines."""
    met: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for name, version in row.versions.items():
            met[name].add(str(version))
        if row.engine:
            met[ENGINE].add(row.engine)
    return {name: tuple(sorted(values)) for name, values in sorted(met.items())}
