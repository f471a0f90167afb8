"""The journal of batches, in the file of a reply store: what was sent, and results not yet read."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_llmeval.engine.batches.stored_batch import StoredBatch, batch_of, packed, row_of
from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_llmeval.engine.batches.ports import Result

_SCHEMA: Final = (
    """CREATE TABLE IF NOT EXISTS batches (
    mark TEXT PRIMARY KEY, model TEXT NOT NULL, endpoint TEXT NOT NULL, kind TEXT NOT NULL,
    created REAL NOT NULL, id TEXT NOT NULL, is_read INTEGER NOT NULL, keys BLOB NOT NULL
) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS batch_results (
    key TEXT PRIMARY KEY, mark TEXT NOT NULL, answered INTEGER NOT NULL, line TEXT NOT NULL
) WITHOUT ROWID""",
)


class BatchJournal:
    """The batches of a run, or of several that keep their replies in one folder.

    Each method has taken effect on return, even if the process is killed then. It stands in tables
    of its own beside the replies, which it does not change.
    """

    def __init__(self, store: Path, *, copies: Sequence[BatchJournal] = ()) -> None:
        """Open the journal in the file of a reply store.

        Args:
            store: the file, which exists.
            copies: journals of other places, in which batches are written down too; not results.

        Raises:
            UsageError: the file cannot be used.
        """
        self._copies = tuple(copies)
        self._redactor = Redactor.of_keys(os.environ)
        try:
            self._connection = sqlite3.connect(store, isolation_level=None)
            # FULL: also a power failure leaves no paid batch that is not written down.
            for statement in ("PRAGMA synchronous=FULL", *_SCHEMA):
                self._connection.execute(statement)
        except sqlite3.Error as error:
            msg = f"{store}: batches cannot be noted here ({error}); choose another folder"
            raise UsageError(msg) from error

    def begin(self, batch: StoredBatch) -> None:
        """Write down a batch that will be sent."""
        self._connection.execute(
            "INSERT OR REPLACE INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row_of(batch)
        )
        for copy in self._copies:
            copy.begin(batch)

    def sent(self, mark: str, batch: str) -> None:
        """Write down the provider's id of a batch."""
        self._connection.execute("UPDATE batches SET id = ? WHERE mark = ?", (batch, mark))
        for copy in self._copies:
            copy.sent(mark, batch)

    def drop(self, mark: str) -> None:
        """Forget a batch that was never made, or is gone at the provider."""
        self._connection.execute("DELETE FROM batches WHERE mark = ?", (mark,))
        for copy in self._copies:
            copy.drop(mark)

    def add_results(self, mark: str, results: Iterable[Result]) -> None:
        """Store results; of several for one request the first reply counts, then the first line."""
        rows = ((one.key, mark, one.answered, self._redacted(one.line)) for one in results)
        with self._transaction():
            self._connection.executemany(
                "INSERT INTO batch_results VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
                "mark = excluded.mark, answered = excluded.answered, line = excluded.line "
                "WHERE excluded.answered > batch_results.answered",
                rows,
            )

    def read(self, mark: str) -> None:
        """Write down that all results of a batch are stored here."""
        self._connection.execute("UPDATE batches SET is_read = 1 WHERE mark = ?", (mark,))

    def result(self, key: str) -> str | None:
        """Return the stored line of results of a request; None if there is none."""
        found = self._connection.execute(
            "SELECT line FROM batch_results WHERE key = ?", (key,)
        ).fetchone()
        return None if found is None else str(found[0])

    def forget(self, key: str) -> None:
        """Forget the result of a request, because it failed."""
        self._connection.execute("DELETE FROM batch_results WHERE key = ?", (key,))

    def batches(self) -> list[StoredBatch]:
        """Return all batches, the oldest first."""
        rows = self._connection.execute("SELECT * FROM batches ORDER BY created, mark")
        return [batch_of(row) for row in rows]

    def adopt(self, other: BatchJournal, model: str, endpoint: str) -> None:
        """Copy the batches of a model from the journal of another place, with their results."""
        known = {batch.mark for batch in self.batches()}
        for batch in other.batches():
            if batch.mark in known or (batch.model, batch.endpoint) != (model, endpoint):
                continue
            self.begin(batch)
            with self._transaction():
                self._connection.executemany(
                    "INSERT OR IGNORE INTO batch_results VALUES (?, ?, ?, ?)",
                    other._results_of(batch.mark),
                )

    def settle(self, failed: Collection[str] = ()) -> None:
        """Forget what is over: results whose replies are stored, failures, and whole batches.

        Args:
            failed: keys of requests that failed for good; a later session asks them anew.
        """
        for copy in self._copies:
            copy.settle(failed)
        execute = self._connection.execute
        execute("DELETE FROM batch_results WHERE key IN (SELECT key FROM replies) OR NOT answered")
        for batch in self.batches():
            over = {key for key in batch.keys if key in failed or self._is_stored(key)}
            if batch.is_read:
                over |= {key for key in batch.keys if self.result(key) is None}
            left = tuple(key for key in batch.keys if key not in over)
            if not left:
                execute("DELETE FROM batches WHERE mark = ?", (batch.mark,))
            elif over:
                execute("UPDATE batches SET keys = ? WHERE mark = ?", (packed(left), batch.mark))

    def close(self) -> None:
        """Close the file, and those of the copies."""
        self._connection.close()
        for copy in self._copies:
            copy.close()

    def _is_stored(self, key: str) -> bool:
        found = self._connection.execute("SELECT 1 FROM replies WHERE key = ?", (key,))
        return found.fetchone() is not None

    def _results_of(self, mark: str) -> list[tuple[str, str, int, str]]:
        query = "SELECT key, mark, answered, line FROM batch_results WHERE mark = ? AND answered"
        return self._connection.execute(query, (mark,)).fetchall()

    def _redacted(self, line: str) -> str:
        return self._redactor.text(line) if self._redactor.may_change(line) else line

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")


def has_batches(store: Path) -> bool:
    """Return whether the file of a reply store has a journal; the file is only read."""
    query = "SELECT 1 FROM sqlite_master WHERE name = 'batches'"
    try:
        with closing(sqlite3.connect(f"{store.absolute().as_uri()}?mode=ro", uri=True)) as file:
            return file.execute(query).fetchone() is not None
    except sqlite3.Error:
        return False
