"""What the script of a page works on: the table of samples, evidence and pictures.

A page has one run, or the two that it compares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup
from msgspec.structs import replace

from pytest_llmeval.records import Json, Row
from pytest_llmeval.report.address import Addresses
from pytest_llmeval.report.asked_questions import AskedQuestions, asked_questions
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.joined_index import joined_index
from pytest_llmeval.report.natural_order import natural_order
from pytest_llmeval.report.pack import Pack, json_text
from pytest_llmeval.report.packed_evidence import pack_evidence
from pytest_llmeval.report.packed_questions import pack_questions
from pytest_llmeval.report.pictures import Album
from pytest_llmeval.report.sample_index import sample_index
from pytest_llmeval.report.side import Side
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.results.targets import is_digest

MAX_BYTES: Final = 25_000_000
"""Size of a report; of what does not fit the path is shown."""

_FRAME: Final = 1_500_000
"""Bytes left for everything but rows, evidence and pictures."""

_NO_QUESTIONS: Final = AskedQuestions(entries=(), numbers={}, images=())
"""Those of the file of a baseline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageData:
    """The JSON of a page, and the compressed evidence and pictures beside it."""

    text: Markup
    chunks: Sequence[str]
    pictures: Sequence[str]


def page_data(
    sides: Mapping[str, Side], addresses: Addresses, more: Mapping[str, Json] | None = None
) -> PageData:
    """Return what a page shows of its runs.

    Args:
        sides: the runs by their letter, "" for the only one.
        addresses: of all their rows.
        more: what stands in the JSON too.
    """
    runs = [_run(side) for side in sides.values()]
    questions = [
        _NO_QUESTIONS if side.run is None else asked_questions(run)
        for side, run in zip(sides.values(), runs, strict=True)
    ]
    index = joined_index(
        [
            sample_index(run, run.rows, side.infos, asked, addresses)
            for side, run, asked in zip(sides.values(), runs, questions, strict=True)
        ],
        [
            {"name": clean(side.name), "letter": letter, "kept": side.run is not None}
            for letter, side in sides.items()
        ],
    )
    room = max(0, MAX_BYTES - _FRAME - len(json_text(index)))
    pack, album = Pack(0), Album([run.path for run in runs], room // 3)
    for image in (image for asked in questions for image in asked.images):
        album.add_with_small(image)
    entries: list[Json] = []
    places: list[Json] = []
    for side, run, asked in zip(sides.values(), runs, questions, strict=True):
        pack.left += room * 2 // 3 // len(runs)
        if side.run is None:
            places += [None] * len(run.rows)
            continue
        entries += pack_questions(run, asked, pack)
        packed = pack_evidence(run, run.rows, side.infos, pack, album)
        places += [list(slot) if slot else None for slot in packed]
    carried = {"questions": entries, "places": places, "pictures": album.index(), **(more or {})}
    text = json_text({**index, **carried})
    return PageData(
        text=Markup(text),  # noqa: S704 - json_text escapes it
        chunks=pack.chunks(),
        pictures=album.encoded,
    )


def ordered(rows: Sequence[Row]) -> list[Row]:
    """Return rows in the order of the table."""
    return sorted(rows, key=_order)


def _run(side: Side) -> StoredRun:
    """Return a side as a run with its rows in the order of the table."""
    rows = tuple(ordered(side.rows))
    if side.run is None:
        return StoredRun(path=Path(side.name), info={}, rows=tuple(map(_without_digests, rows)))
    return StoredRun(path=side.run.path, info=side.run.info, rows=rows, whole=side.whole)


def _order(row: Row) -> tuple[Any, ...]:
    return row.task, natural_order(row.sample), row.test, row.model, row.epoch


def _without_digests(row: Row) -> Row:
    """Return a row of a baseline's file without what nobody can read."""
    return replace(row, answer=None, target="" if is_digest(row.target) else row.target)
