"""The evidence of all samples, packed into what a report has room for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from pytest_llmeval.records import Json, Row, Transcript
from pytest_llmeval.report.evidence import Evidence, weight
from pytest_llmeval.report.pack import Pack, Slot, fair_share
from pytest_llmeval.report.pictures import Album
from pytest_llmeval.results.row_texts import Whole
from pytest_llmeval.results.stored_run import StoredRun, read_transcripts
from pytest_llmeval.results.task_info import TaskInfo

_TEXT_LIMITS: Final = (40_000, 6_000, 1_000)
"""Characters of one text on the page of a sample: the first for which the evidence has room."""

_ROW: Final = 3_000
"""Approximate number of characters of the evidence of a row without its transcript."""


def pack_evidence(
    run: StoredRun,
    rows: Sequence[Row],
    infos: Mapping[str, TaskInfo],
    pack: Pack,
    album: Album,
) -> list[Slot | None]:
    """Pack the evidence of each row, and return its place; None where no room was left.

    `infos` are those of the tasks, by name. Transcripts are read twice, one at a time, instead of
    being held: they can be far larger than the report.
    """
    by_key, weights, last = {row.key: row for row in rows}, {}, {}
    for number, (key, transcript) in enumerate(read_transcripts(run.path)):
        if key in by_key:
            weights[key], last[key] = _ROW + weight(transcript), number
    sizes = [*weights.values(), *[_ROW] * (len(rows) - len(weights))]
    packing = _Packing(
        infos=infos,
        settings=cast("dict[str, Json]", run.info.get("settings", {})),
        pack=pack,
        album=album,
        whole=run.whole,
        share=fair_share(sizes, pack.room),
        waiting=len(rows),
    )
    places = {
        key: packing.add(by_key[key], transcript)
        for number, (key, transcript) in enumerate(read_transcripts(run.path))
        if last.get(key) == number
    }
    return [places[row.key] if row.key in places else packing.add(row, None) for row in rows]


@dataclass(slots=True, kw_only=True)
class _Packing:
    """Packs the evidence of rows, with the longest texts that stay within a fair share of the room.

    `share` is the share that was estimated before, `waiting` the number of rows still to come.
    """

    infos: Mapping[str, TaskInfo]
    settings: Mapping[str, Json]
    pack: Pack
    album: Album
    whole: Whole
    share: int
    waiting: int

    def add(self, row: Row, transcript: Transcript | None) -> Slot | None:
        if self.pack.full:
            return None
        cap = max(self.share, self.pack.room // self.waiting)
        self.waiting -= 1
        return self.pack.add(self._text(self.whole(row), transcript, cap))

    def _text(self, row: Row, transcript: Transcript | None, cap: int) -> str:
        """Return the evidence as JSON, within `cap` characters if that is possible."""
        text, longest = "", None
        for limit in _TEXT_LIMITS:
            if longest is not None and longest <= limit:
                continue  # it would be the same again, as it is of most rows of a large run
            evidence = Evidence(
                info=self.infos[row.task],
                settings=self.settings,
                picture=self.album.add,
                limit=limit,
            )
            text = json.dumps(evidence.of(row, transcript), allow_nan=False)
            longest = evidence.longest
            if len(text) <= cap:
                break
        return text
