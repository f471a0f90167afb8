"""The entries of a run: its rows by task, test function and model, and the versions in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from pytest_llmeval.records import Row
from pytest_llmeval.results.rows import latest, versions_met


class EntryKey(NamedTuple):
    """A task as one test function ran it under one model."""

    task: str
    test: str
    model: str


ABSENT: Final = "none"
"""What stands in place of a version that a part's rows do not hold."""


def rows_by_entry(rows: Iterable[Row]) -> dict[EntryKey, list[Row]]:
    """Return the rows by task, test and model, the last one of each key, in stable order."""
    parts: dict[EntryKey, list[Row]] = defaultdict(list)
    for row in sorted(latest(rows), key=lambda row: row.key):
        parts[EntryKey(row.task, row.test, row.model)].append(row)
    return parts


def differing_versions(parts: Iterable[Sequence[Row]]) -> dict[str, tuple[str, ...]]:
    """Return the versions that are not the same in all parts, as one text for each part."""
    known = [version_texts(rows) for rows in parts]
    names = sorted({name for texts in known for name in texts})
    met = {name: tuple(texts.get(name) or ABSENT for texts in known) for name in names}
    return {name: texts for name, texts in met.items() if len(set(texts)) > 1}


def version_texts(rows: Iterable[Row]) -> dict[str, str]:
    """Return every version that the rows hold of each thing, several of one thing as one text."""
    return {name: ", ".join(versions) for name, versions in versions_met(rows).items()}
