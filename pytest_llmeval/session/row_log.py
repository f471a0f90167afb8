"""The rows of a run, collected while its tests are reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from pytest_llmeval.engine.plan import Plan, PlannedTest
from pytest_llmeval.errors import RunStopped
from pytest_llmeval.files.writes import Writes
from pytest_llmeval.records import Outcome, Row, RowKey
from pytest_llmeval.results.row_texts import Kept, as_it_is
from pytest_llmeval.results.shared_parts import SharedParts
from pytest_llmeval.results.store import RunFolder
from pytest_llmeval.session.rows import unreported_row
from pytest_llmeval.session.tally import Tally
from pytest_llmeval.task.catalog import Catalog


class RowLog:
    """The last reported row of each key; every row is also written at once.

    Attributes:
        tally: the counts of the rows that this session added.
    """

    def __init__(  # noqa: PLR0913 - the parts of a session
        self,
        catalog: Catalog,
        open_folder: Callable[[], RunFolder | None],
        writes: Writes,
        earlier: Sequence[Row] = (),
        kept: Kept = as_it_is,
        *,
        added: Callable[[Row], None] = lambda _: None,
    ) -> None:
        """Start with the rows of a resumed run.

        Args:
            catalog: the tasks, for the rows of unreported tests.
            open_folder: returns the run's folder, or None if no files are wanted.
            writes: notes rows that cannot be written, which ends the run.
            earlier: rows that a resumed run already has; each counts until its key is reported.
            kept: returns what of a row stays in memory once it is written.
            added: called with each row that is added.
        """
        self._kept, self._added = kept, added
        self._catalog, self._open_folder, self._writes = catalog, open_folder, writes
        self._earlier = {row.key: row for row in earlier}
        self._rows: dict[RowKey, Row] = {}
        self.tally = Tally()
        self._unwritten: set[RowKey] = set()
        self._shared = SharedParts()

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows of the run as stored, with the earlier ones of a resumed run."""
        return tuple((self._earlier | self._rows).values())

    @property
    def reported(self) -> int:
        """Number of rows that this session added."""
        return len(self._rows)

    def add(self, row: Row) -> None:
        """Add a row, in place of an earlier one with its key, and write it.

        A row with outcome ``not run`` does not replace that of a resumed run. A row that cannot be
        written is kept for the table, and written in `complete` if that is possible by then; so is
        one whose writing a signal interrupted.
        """
        if row.outcome == "not run" and row.key in self._earlier:
            return
        if (before := self._rows.get(row.key)) is not None:
            row = replace(row, reports=before.reports + 1)
        # Before anything that a signal may interrupt: a row that counts is written or noted here.
        self._unwritten.add(row.key)
        self._keep(row)
        self.tally.count(row, before)
        self._write(row)
        self._added(row)

    def add_unreported(self, test: PlannedTest, outcome: Outcome, explanation: str) -> None:
        """Add the row of a planned test without a report."""
        self.add(unreported_row(test, self._catalog.at(test.file), outcome, explanation))

    def complete(self, plan: Plan) -> None:
        """Add a row for each planned test without a report; write what could not be written."""
        for key in self._unwritten & self._rows.keys():
            self._write(self._rows[key])
        for test in plan.tests:
            if test.key not in self._rows and test.key not in self._earlier:
                self.add_unreported(test, "not run", "never reported")

    def _write(self, row: Row) -> None:
        try:
            with self._writes.to("rows"):
                if (folder := self._open_folder()) is not None:
                    row = folder.add_row(row)
        except RunStopped:
            pass  # The table can still be printed, with the reason below it.
        else:
            self._unwritten.discard(row.key)
            self._keep(self._shared.within(self._kept(row)))

    def _keep(self, row: Row) -> None:
        """Let a row count, in place of that of a resumed run, which leaves memory."""
        self._rows[row.key] = row
        if row.key in self._earlier:
            self._earlier[row.key] = row
