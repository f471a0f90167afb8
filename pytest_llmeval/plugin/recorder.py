"""The run's rows, gathered from test reports in the process that the user started."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.engine.plan import Plan, PlannedTest
from pytest_llmeval.errors import UsageError
from pytest_llmeval.plugin.reporting import unreported_row
from pytest_llmeval.records import Json, Outcome, Row, RowKey
from pytest_llmeval.task.catalog import Catalog

if TYPE_CHECKING:
    import pytest

    from pytest_llmeval.results.store import RunFolder

CRASHED = "???"
"""What xdist reports as the phase of a test whose worker died."""


class Recorder:
    """Keeps one row for each key, the last that was reported, and writes each to the run's folder at once."""

    def __init__(
        self,
        catalog: Catalog,
        open_folder: Callable[[], RunFolder | None],
        earlier: Sequence[Row] = (),
    ) -> None:
        """Write into the folder that `open_folder` gives (None: no files are wanted).

        `earlier` are the rows that a resumed run has already; they stand until they are reported
        again.
        """
        self._catalog, self._open_folder = catalog, open_folder
        self._earlier = {row.key: row for row in earlier}
        self._rows: dict[RowKey, Row] = {}
        self.trouble: str | None = None
        """Why the last row that could not be written was not."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the run, a resumed one's earlier rows among them."""
        return tuple((self._earlier | self._rows).values())

    @property
    def reported(self) -> int:
        """How many rows this session added."""
        return len(self._rows)

    def take(self, report: pytest.TestReport, plan: Plan) -> None:
        """Take the row off a report, or make one for a test whose worker died over it."""
        data: dict[str, Json] | None = getattr(report, "llmeval", None)
        if data is not None:
            self._add(Row.from_json(data))
        elif (
            str(report.when) == CRASHED and (position := plan.index.get(report.nodeid)) is not None
        ):
            self._add_unreported(plan.tests[position], "error", str(report.longrepr))

    def complete(self, plan: Plan) -> None:
        """Add a row for every planned test that was never reported."""
        for test in plan.tests:
            if test.key not in self._rows and test.key not in self._earlier:
                self._add_unreported(test, "not run", "never reported")

    def _add_unreported(self, test: PlannedTest, outcome: Outcome, explanation: str) -> None:
        self._add(unreported_row(test, self._catalog.load(Path(test.file)), outcome, explanation))

    def _add(self, row: Row) -> None:
        if row.outcome == "not run" and row.key in self._earlier:
            return
        before = self._rows.get(row.key)
        if before is not None:
            row = replace(row, reports=before.reports + 1)
        self._rows[row.key] = row
        try:
            if (folder := self._open_folder()) is not None:
                folder.add_row(row)
        except (OSError, UsageError) as error:
            # The table can still be printed; what a full disk cost is told with it.
            self.trouble = str(error)
