"""The reply store: replies by request, in one SQLite file."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple

from pytest_llmeval.engine.replies.stored_reply import StoredReply
from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.json_lines import record_line
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.safety.regular_files import check_regular

REPLIES: Final = "replies.sqlite3"
"""Name of the file, in the folder of a run and in a folder of replies."""

IMAGES: Final = "images"
"""Name of the folder beside it that holds the replies' pictures."""

SCHEMA_VERSION: Final = 2

OLD_NAME: Final = "completions.sqlite3"
"""Name of the file up to schema version 1."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT NOT NULL, endpoint TEXT NOT NULL, model TEXT NOT NULL, created REAL NOT NULL,
    record TEXT NOT NULL, PRIMARY KEY (key, endpoint)
) WITHOUT ROWID
"""


class Stock(NamedTuple):
    """What a place holds of one model: number of replies, dates of the first and last (s)."""

    model: str
    replies: int
    oldest: float
    newest: float


class ReplyStore:
    """Stored replies by request key (`Request.key`) and endpoint.

    One process writes, from one thread; others may read at the same time.
    """

    def __init__(self, path: Path | None) -> None:
        """Open or make the file.

        Args:
            path: the file; None for a temporary one, which is deleted on close.

        Raises:
            UsageError: the file is no reply store, or one of another version.
        """
        if path is not None and not path.exists() and path.with_name(OLD_NAME).exists():
            msg = (
                f"{path.with_name(OLD_NAME)}: replies of an earlier version, which cannot be "
                "read; use the version that wrote them, or start a new run"
            )
            raise UsageError(msg)
        self._redactor = Redactor.of_keys(os.environ)
        with ExitStack() as on_failure:
            try:
                if path is not None and path.exists():
                    check_regular(path)
                self._connection = sqlite3.connect(
                    "" if path is None else path, isolation_level=None
                )
                on_failure.callback(self.close)
                version = self._prepare()
            except (OSError, sqlite3.Error) as error:
                msg = (
                    f"{path}: cannot be used as reply store ({error}); "
                    "move it away or choose another folder"
                )
                raise UsageError(msg) from error
            if version != SCHEMA_VERSION:
                msg = (
                    f"{path}: reply store of schema version {version}; "
                    f"this version reads {SCHEMA_VERSION}"
                )
                raise UsageError(msg)
            on_failure.pop_all()

    def get(self, key: str, endpoint: str | None = None) -> StoredReply | None:
        """Return the reply stored under a request's key, or None.

        Args:
            key: the request's key.
            endpoint: where the reply must come from; None for anywhere, the newest then counts.
        """
        row = self._connection.execute(
            "SELECT record FROM replies WHERE key = ?1 AND (?2 IS NULL OR endpoint = ?2) "
            "ORDER BY created DESC LIMIT 1",
            (key, endpoint),
        ).fetchone()
        return None if row is None else StoredReply.from_json(json.loads(row[0]))

    def put(self, key: str, stored: StoredReply) -> None:
        """Store a reply without keys, replacing one of the same key and endpoint.

        On return it survives the death of this process.
        """
        # ASCII, because SQLite refuses half surrogate pairs, which models do produce.
        record = record_line(stored)
        if self._redactor.may_change(record):
            record = json.dumps(self._redactor.json(stored.to_json()))
        self._connection.execute(
            "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?)",
            (key, stored.endpoint, stored.model, stored.created, record),
        )

    def all(self) -> Iterator[StoredReply]:
        """Yield all replies, oldest first."""
        rows = self._connection.execute("SELECT record FROM replies ORDER BY created, key")
        return (StoredReply.from_json(json.loads(record)) for (record,) in rows)

    def stocks(self) -> list[Stock]:
        """Return what there is of each model, by name."""
        rows = self._connection.execute(
            "SELECT model, count(*), min(created), max(created) FROM replies "
            "GROUP BY model ORDER BY model"
        )
        return [Stock(*row) for row in rows]

    def absorb(self, path: Path) -> None:
        """Copy each reply of the store at `path` that this one lacks.

        Raises:
            UsageError: there is no reply store that can be read.
        """
        ReplyStore(path).close()  # checks it
        self._connection.execute("ATTACH ? AS other", (str(path),))
        self._connection.execute("INSERT OR IGNORE INTO replies SELECT * FROM other.replies")
        self._connection.execute("DETACH other")

    def forget(self, before: float) -> int:
        """Delete the replies made before a moment (s since 1970); return their number."""
        deleted = self._connection.execute(
            "DELETE FROM replies WHERE created < ?", (before,)
        ).rowcount
        self._connection.execute("VACUUM")
        return deleted

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _prepare(self) -> int:
        """Return the schema version; an empty file becomes a store, and a store stays as it is."""
        version: int = self._connection.execute("PRAGMA user_version").fetchone()[0]
        # A power cut may lose the last commits; the kill of a process loses nothing.
        self._connection.execute("PRAGMA synchronous=NORMAL")
        if version:
            return version
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute(_SCHEMA)
        self._connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        return SCHEMA_VERSION
