"""How many answers have which label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from pytest_llmeval.records import Json, Row
from pytest_llmeval.results.rows import last_scores
from pytest_llmeval.results.task_info import TaskInfo

UNLABELLED: Final = "unlabelled"
"""The count of answers whose label is none of those declared."""


def label_counts(rows: Sequence[Row], info: TaskInfo) -> dict[str, dict[str, int]]:
    """Return for each declared detail how many answers have each of its labels.

    Details without an answer that has them are left out; labels come in the declared order, and
    "unlabelled" last.
    """
    found = {}
    for key, labels, values in _declared(rows, info):
        if values:
            counted = Counter(value for value in values if isinstance(value, str))
            known = {label: counted[label] for label in labels}
            found[key] = {**known, UNLABELLED: len(values) - sum(known.values())}
    return found


def _declared(
    rows: Sequence[Row], info: TaskInfo
) -> Iterator[tuple[str, Mapping[str, str], list[Json]]]:
    """Yield each declared detail, its labels, and its values in the rows that have it."""
    for key, labels in info.display.labels.items():
        yield key, labels, _values(key, (row.details for row in rows))
    for score in info.scores:
        details = [
            found.details for row in rows if (found := last_scores(row).get(score.name)) is not None
        ]
        for key, labels in score.display.labels.items():
            yield key, labels, _values(key, details)


def _values(key: str, details: Iterable[Mapping[str, Json]]) -> list[Json]:
    return [one[key] for one in details if key in one]
