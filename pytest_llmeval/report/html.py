"""``report.html``: a run in one file that opens from disk, made from the run's folder alone."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from markupsafe import Markup

from pytest_llmeval.records import Json, Row, RowKey, Transcript
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.compared import compared
from pytest_llmeval.report.evidence import Evidence, weight
from pytest_llmeval.report.gate_sheet import gate_sheet
from pytest_llmeval.report.overview import entry_names, provenance, sections, started_text
from pytest_llmeval.report.pack import Pack, Place, fair_share, json_text
from pytest_llmeval.report.page import render
from pytest_llmeval.report.pictures import Album
from pytest_llmeval.report.plots import scatter
from pytest_llmeval.report.rescoring_sheet import rescoring_sheet
from pytest_llmeval.report.sample_index import sample_index
from pytest_llmeval.report.sheet import Sheet, remarks
from pytest_llmeval.results.compare import Comparison
from pytest_llmeval.results.gate import GateResult
from pytest_llmeval.results.metrics import summarise
from pytest_llmeval.results.rescoring import Rescoring
from pytest_llmeval.results.store import (
    SUMMARY,
    StoredRun,
    read_run,
    read_summary,
    read_transcripts,
    write_atomically,
)
from pytest_llmeval.results.stored_tasks import stored_tasks
from pytest_llmeval.results.summary import Summary

REPORT: Final = "report.html"
"""The report's name in the run's folder."""

MAX_BYTES: Final = 25_000_000
"""Size of a report; what does not fit is named with the place where it lies."""

_FRAME: Final = 1_500_000
"""Bytes left for everything but rows, evidence and pictures."""

_TEXT_LIMITS: Final = (40_000, 6_000, 1_000)
"""Characters of one text that the page of a sample shows: the most for which the sample's evidence
finds room."""

_ROW: Final = 3_000
"""Characters of the evidence of a row without its transcript, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """What a report compares its run with: the comparison (this run is b) and the name of run a."""

    name: str
    comparison: Comparison


def write_report(
    run_folder: Path,
    target: Path | None = None,
    *,
    gate: GateResult | None = None,
    against: Against | None = None,
    again: Rescoring | None = None,
) -> Path:
    """Write the report of a run and return its path: `target`, else ``report.html`` in the run's folder.

    Everything is read from the folder (UsageError when it is none); the verdict of a gate, a
    comparison, and what changed when replies were scored again are shown when they are given. The
    file is replaced as a whole, and stays below MAX_BYTES for 10,000 rows.
    """
    run = read_run(run_folder)
    path = run.path / REPORT if target is None else target
    write_atomically(path, render_report(run, gate=gate, against=against, again=again))
    return path


def render_report(
    run: StoredRun,
    *,
    gate: GateResult | None = None,
    against: Against | None = None,
    again: Rescoring | None = None,
) -> str:
    """Return the report of a run as HTML."""
    rows = sorted(
        run.rows, key=lambda row: (row.key.task, row.key.test, row.key.model, _natural(row.key))
    )
    summary = _summary(run)
    data, pack, album = _data(run, rows, summary)
    pairs, lonely = ((), ()) if against is None else compared(against.comparison)
    return render(
        "report.html.jinja",
        title=started_text(run.info),
        run=run.path.name,
        rows=len(rows),
        models=list(dict.fromkeys(clean(row.key.model) for row in rows)),
        remarks=[*remarks(summary), *map(clean, run.remarks)],
        gate=None if gate is None else gate_sheet(gate),
        gate_passed=gate is not None and gate.passed,
        provenance=provenance(run.info),
        sections=sections(summary, rows),
        scatter=scatter(list(zip(entry_names(summary), summary.entries, strict=True))),
        again=None if again is None else rescoring_sheet(again),
        against=None if against is None else clean(against.name),
        pairs=pairs,
        lonely=lonely,
        numbers=_numbers(rows),
        data=data,
        chunks=pack.chunks(),
        pictures=album.encoded,
    )


def _data(run: StoredRun, rows: Sequence[Row], summary: Summary) -> tuple[Markup, Pack, Album]:
    """Return the table of samples for the page's script, and evidence and pictures that it opens.

    A function of its own, so that the objects behind the text are gone before the page is put
    together.
    """
    index = sample_index(rows, summary)
    room = max(0, MAX_BYTES - _FRAME - len(json_text(index)))
    pack, album = Pack(room * 2 // 3), Album(run.path, room // 3)
    places: list[Json] = [
        list(place) if place else None for place in _evidence(run, rows, pack, album)
    ]
    text = json_text({**index, "places": places, "pictures": album.index()})
    return Markup(text), pack, album  # noqa: S704 - json_text escapes it


def render_comparison(comparison: Comparison, *, names: tuple[str, str]) -> str:
    """Return a comparison of two runs, called `names`, as a page of its own."""
    pairs, lonely = compared(comparison)
    a, b = map(clean, names)
    title = f"{a} and {b}"
    return render(
        "comparison.html.jinja", title=title, names=[a, b], pairs=pairs, lonely=lonely, numbers={}
    )


def render_sheets(title: str, sheets: Sequence[Sheet]) -> str:
    """Return sheets, such as those of several runs side by side, as a page of its own."""
    return render(
        "comparison.html.jinja", title=clean(title), names=[], pairs=(), lonely=sheets, numbers={}
    )


def _summary(run: StoredRun) -> Summary:
    """Return the run's summary; one that was killed has none, so its rows are counted anew."""
    return (
        read_summary(run.path)
        if (run.path / SUMMARY).is_file()
        else summarise(run.rows, stored_tasks(run))
    )


def _natural(key: RowKey) -> tuple[int, int, str, int]:
    """Order sample ids that are numbers as numbers, before all others."""
    number = key.sample.isascii() and key.sample.isdigit() and len(key.sample) < 20  # noqa: PLR2004 - fits anywhere
    return (0, int(key.sample), "", key.epoch) if number else (1, 0, key.sample, key.epoch)


def _evidence(run: StoredRun, rows: Sequence[Row], pack: Pack, album: Album) -> list[Place | None]:
    """Pack what is known of each row, and return where it lies; None where no room was left.

    Transcripts are read twice, one at a time, instead of being held: they can be far larger than
    the report.
    """
    by_key, weights, last = {row.key: row for row in rows}, {}, {}
    for number, (key, transcript) in enumerate(read_transcripts(run.path)):
        if key in by_key:
            weights[key], last[key] = _ROW + weight(transcript), number
    sizes = [*weights.values(), *[_ROW] * (len(rows) - len(weights))]
    packing = _Packing(
        pack=pack, album=album, share=fair_share(sizes, pack.room), waiting=len(rows)
    )
    places = {
        key: packing.add(by_key[key], transcript)
        for number, (key, transcript) in enumerate(read_transcripts(run.path))
        if last.get(key) == number
    }
    return [places[row.key] if row.key in places else packing.add(row, None) for row in rows]


@dataclass(slots=True, kw_only=True)
class _Packing:
    """How evidence is packed: each text as long as the whole stays below a fair share of what fits.

    `share` is the share that was reckoned before, `waiting` how many rows are still to come.
    """

    pack: Pack
    album: Album
    share: int
    waiting: int

    def add(self, row: Row, transcript: Transcript | None) -> Place | None:
        if self.pack.full:
            return None
        cap = max(self.share, self.pack.room // self.waiting)
        self.waiting -= 1
        text = ""
        for limit in _TEXT_LIMITS:
            text = json.dumps(
                Evidence(picture=self.album.add, limit=limit).of(row, transcript), allow_nan=False
            )
            if len(text) <= cap:
                break
        return self.pack.add(text)


def _numbers(rows: Sequence[Row]) -> dict[tuple[str, str, str], dict[str, int]]:
    """Return the numbers under which the page knows samples, by task, model and test."""
    numbers: dict[tuple[str, str, str], dict[str, int]] = defaultdict(dict)
    for number, row in enumerate(rows):
        numbers[row.key.task, row.key.model, row.key.test].setdefault(clean(row.key.sample), number)
    return numbers
