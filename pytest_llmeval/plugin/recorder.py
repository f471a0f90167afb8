"""The run's rows, gathered from test reports in the process that the user started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.records import Json, Row, RowKey

if TYPE_CHECKING:
    import pytest

    from pytest_llmeval.results.store import RunFolder

CRASHED = "???"
"""What xdist reports as the phase of a test whose worker died."""


class Recorder:
    """Keeps one row for each key, the last that was reported, and writes each to the run's folder at once."""

    def __init__(self, open_folder: Callable[[], RunFolder | None]) -> None:
        """Write into the folder that `open_folder` gives (None: no files are wanted)."""
        self._open_folder = open_folder
        self._rows: dict[RowKey, Row] = {}

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows so far."""
        return tuple(self._rows.values())

    def take(self, report: pytest.TestReport, plan: Plan) -> None:
        """Take the row off a report, or make one for a test whose worker died over it."""
        data: dict[str, Json] | None = getattr(report, "llmeval", None)
        if data is not None:
            self._add(Row.from_json(data))
        elif str(report.when) == CRASHED and (position := plan.index.get(report.nodeid)) is not None:
            test = plan.tests[position]
            self._add(Row(key=test.key, nodeid=test.nodeid, outcome="error", explanation=str(report.longrepr)))

    def complete(self, plan: Plan) -> None:
        """Add a row for every planned test that was never reported."""
        for test in plan.tests:
            if test.key not in self._rows:
                self._add(Row(key=test.key, nodeid=test.nodeid, outcome="not run", explanation="never reported"))

    def _add(self, row: Row) -> None:
        before = self._rows.get(row.key)
        if before is not None:
            row = replace(row, reports=before.reports + 1)
        self._rows[row.key] = row
        if (folder := self._open_folder()) is not None:
            folder.add_row(row)
