"""The long texts of rows: left out of memory, and read back from the file of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from msgspec.structs import replace

from pytest_llmeval.records import Json, Row
from pytest_llmeval.records.score import OPINIONS
from pytest_llmeval.results.keyed_lines import KeyedLines
from pytest_llmeval.results.run_files import ROWS
from pytest_llmeval.results.targets import answer_digest

Whole: TypeAlias = Callable[[Row], Row]
"""Returns a row with all its texts."""

Kept: TypeAlias = Callable[[Row], Row]
"""Returns what of a row is kept in memory."""

SHORT: Final = 200
"""Characters of a text in a row's details that is kept in memory, at most."""


def lean(row: Row) -> Row:
    """Return a row without the texts that no figure of a run is computed of.

    These are the answer, of which the digest stays, all explanations, and of the details long texts
    and nested values. Metrics that are functions of the task may need them, and get whole rows.
    """
    return replace(
        row,
        answer=None if row.answer is None else answer_digest(row.answer),
        explanation="",
        details=_lean_details(row.details),
        scores=tuple(
            replace(score, explanation="", details=_lean_details(score.details))
            for score in row.scores
        ),
    )


def as_it_is(row: Row) -> Row:
    """Return a row that is whole already."""
    return row


def whole_from(folder: Path) -> Whole:
    """Return a function that reads rows again from a run's folder; those it lacks stay as given.

    No row may be written any more once it is called; OSError or UsageError if it cannot read.
    """
    rows = KeyedLines(folder / ROWS, Row)
    return lambda row: rows.get(row.key, row)


def _lean_details(details: Mapping[str, Json]) -> Mapping[str, Json]:
    return {
        name: _lean_opinions(value) if name == OPINIONS else value
        for name, value in details.items()
        if name == OPINIONS or _is_short(value)
    }


def _lean_opinions(opinions: Json) -> Json:
    """Return the opinions of judges without their reasons: votes are what agreement is made of."""
    if not isinstance(opinions, list):
        return opinions
    return [
        {
            name: value
            for name, value in opinion.items()
            if _is_short(value) or (isinstance(value, list) and all(map(_is_short, value)))
        }
        if isinstance(opinion, dict)
        else opinion
        for opinion in opinions
    ]


def _is_short(value: Json) -> bool:
    if isinstance(value, str):
        return len(value) <= SHORT
    return not isinstance(value, list | dict)
