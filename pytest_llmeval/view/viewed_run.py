"""One run that somebody looks at, kept in memory and read on as it grows."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Final, cast

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json, Row, RowKey
from pytest_llmeval.report.address import Addresses
from pytest_llmeval.report.asked_questions import excerpts
from pytest_llmeval.report.elements import elements_of
from pytest_llmeval.report.served import Served, render_served, served_overview, served_rows
from pytest_llmeval.results.growing_lines import GrowingLines
from pytest_llmeval.results.questions import Question, QuestionKey, question_of
from pytest_llmeval.results.run_files import LABELS, ROWS, RUN, SAMPLES, SUMMARY
from pytest_llmeval.results.stored_run import StoredRun, read_info
from pytest_llmeval.results.task_info import TaskInfo
from pytest_llmeval.session.findings import Findings
from pytest_llmeval.session.stored import concluded_findings
from pytest_llmeval.view.activity import stamp
from pytest_llmeval.view.request import Refused, Response
from pytest_llmeval.view.run_evidence import RunEvidence, blind
from pytest_llmeval.view.run_labels import RunLabels

_REST: Final = 5.0
"""How many times as long as computing figures took, they are used although rows were added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """What was computed of the rows up to byte `at`, with the files as `stamps` says."""

    at: int
    stamps: tuple[tuple[int, int], ...]
    found: Findings
    took: float
    computed: float
    page: bytes = b""


class ViewedRun:
    """A run's rows, and what the pages show of them.

    Several threads ask; one at a time reads and computes.
    """

    def __init__(self, folder: Path) -> None:
        """View the run in a folder; nothing is read yet."""
        self.folder = folder
        self._evidence = RunEvidence(folder)
        self._labels = RunLabels(folder)
        self._lock = threading.RLock()
        self._shown: _Shown | None = None
        self._forget()

    def page(self) -> Response:
        """Return the run's page with its rows."""
        with self._lock:
            shown = self._renewed(newest=True)
            if not shown.page:
                served = self._served(shown.found.rows, shown.at)
                parts = render_served(served, shown.found.summary, shown.found.besides)
                page = "".join(parts).encode("utf-8", "backslashreplace")
                shown = replace(shown, page=page)
                self._shown = shown
        return Response(body=shown.page)

    def news(self, since: int) -> dict[str, Json]:
        """Return the rows whose lines begin at byte `since` or later, as data of the page.

        `Refused` when the file of rows is another one by now: the page is to be loaded anew.
        """
        with self._lock:
            self._read()
            if since > self._lines.at:
                raise Refused(HTTPStatus.CONFLICT, "The rows of this run were replaced.")
            added = [row for key, row in self._rows.items() if self._places[key] >= since]
            rows: Json = None
            if added:
                # Only titles are taken from it: rows do not wait for figures.
                summary = (self._shown or self._renewed()).found.summary
                served = self._served(added, self._lines.at)
                rows = served_rows(served, added, summary, Addresses(self._rows.values()))
            return {"at": self._lines.at, "rows": rows}

    def overview(self, *, newest: bool) -> Json:
        """Return the first view as elements, and up to which byte rows are in it.

        `newest`: all rows, however long it takes to compute their figures.
        """
        with self._lock:
            shown = self._renewed(newest=newest)
            served = self._served((), shown.at)
            page = served_overview(served, shown.found.summary, shown.found.besides)
        body = page.partition("<body>")[2].partition('<script type="application/json"')[0]
        return {"at": shown.at, "elements": elements_of(body, "header", "main")}

    def evidence(self, place: int) -> Json:
        """Return what is known of the row whose line begins at a byte."""
        row = self._evidence.row_at(place)
        question = self._questions.get(question_of(row))
        found = self._evidence.of(row, self._info_of(row), self._settings)
        return {**found, "question": None if question is None else question.text}

    def blind(self, place: int) -> Json:
        """Return question, answer and target of a row, and nothing of how it was scored."""
        row = self._evidence.row_at(place)
        info, question = self._info_of(row), self._questions.get(question_of(row))
        self._evidence.name(() if question is None else question.images)
        return blind(self._evidence.of(row, info, self._settings), question)

    def picture(self, digest: str) -> Response:
        """Return a picture of one of its rows."""
        return self._evidence.picture(digest)

    def labels(self) -> Json:
        """Return the labels of its answers."""
        with self._lock:
            self._read()
            return self._labels.known(tuple(self._rows.values()), self._places)

    def drawn(self) -> list[Json]:
        """Return the answers to label, in the order in which they are to be."""
        with self._lock:
            self._read()
            return self._labels.drawn(tuple(self._rows.values()), self._places)

    def add_label(self, body: bytes) -> None:
        """Keep a label."""
        with self._lock:
            self._read()
            self._labels.add(tuple(self._rows.values()), self._places, body)

    def _served(self, rows: Sequence[Row], at: int) -> Served:
        """Return the run with what some of its rows ask."""
        wanted = dict.fromkeys(map(question_of, rows))
        known = [found for key in wanted if (found := self._questions.get(key)) is not None]
        questions = excerpts(known, len(self._questions))
        self._evidence.name(questions.images)
        return Served(run=self._run, places=self._places, questions=questions, at=at)

    @property
    def _settings(self) -> dict[str, Json]:
        return cast("dict[str, Json]", self._info.get("settings", {}))

    @property
    def _run(self) -> StoredRun:
        return StoredRun(
            path=self.folder,
            info=self._info,
            rows=tuple(self._rows.values()),
            remarks=(
                (f"{self._lines.wrong:,} lines of {ROWS} are no rows, and are left out",)
                if self._lines.wrong
                else ()
            ),
        )

    def _info_of(self, row: Row) -> TaskInfo:
        with self._lock:
            entries = self._renewed().found.summary.entries
        found = (entry.info for entry in entries if entry.task == row.task)
        return next(found, TaskInfo(title=row.task))

    def _forget(self) -> None:
        self._lines = GrowingLines(self.folder / ROWS, Row)
        self._asked = GrowingLines(self.folder / SAMPLES, Question)
        self._rows: dict[RowKey, Row] = {}
        self._questions: dict[QuestionKey, Question] = {}
        self._places: dict[RowKey, int] = {}
        self._info: Mapping[str, Json] = {}
        self._shown = None

    def _read(self) -> None:
        """Read what was added."""
        try:
            added = self._lines.added()
        except UsageError:  # another file in its place
            self._forget()
            added = self._lines.added()
        self._questions |= {one.record.key: one.record for one in self._asked.added()}
        for place, row in added:
            self._rows[row.key] = row
            self._places[row.key] = place

    def _renewed(self, *, newest: bool = False) -> _Shown:
        """Return figures of the rows; of earlier ones if computing them again takes too long."""
        self._read()
        at = self._lines.at
        stamps = tuple(stamp(self.folder / name) for name in (RUN, SUMMARY, LABELS))
        if (shown := self._shown) is not None and shown.stamps == stamps:
            fresh = time.monotonic() - shown.computed < _REST * shown.took
            if shown.at == at or (fresh and not newest):
                return shown
        begun = time.monotonic()
        self._info = read_info(self.folder)
        found = concluded_findings(self._run)
        now = time.monotonic()
        self._shown = _Shown(at=at, stamps=stamps, found=found, took=now - begun, computed=now)
        return self._shown
