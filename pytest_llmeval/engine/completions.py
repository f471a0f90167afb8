"""The completions store: every reply of a run in one SQLite file, kept before anyone sees it."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json, Reply, Request

SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS completions (
    key TEXT PRIMARY KEY, provider TEXT NOT NULL, model TEXT NOT NULL, role TEXT NOT NULL,
    content TEXT NOT NULL, reply TEXT NOT NULL, created REAL NOT NULL
) WITHOUT ROWID
"""


class StoredReply(NamedTuple):
    """A reply from the store and when it was put there, in seconds since 1970."""

    reply: Reply
    created: float


class Kept(NamedTuple):
    """A line of the store: who was asked, what (`Request.content`), and the reply."""

    model: str
    content: dict[str, Json]
    stored: StoredReply


class Stock(NamedTuple):
    """What the store holds of one model: how many replies, and when the oldest and newest were made (s since 1970)."""

    model: str
    replies: int
    oldest: float
    newest: float


class CompletionStore:
    """Replies by request key.

    One process writes (the engine's thread); others may read at the same time.
    """

    def __init__(self, path: Path | None) -> None:
        """Open or make the file at `path`; None keeps the replies in a temporary file that vanishes on close.

        UsageError when the file is of another schema version, or no database.
        """
        with ExitStack() as on_failure:
            try:
                self._connection = sqlite3.connect(
                    "" if path is None else path, isolation_level=None
                )
                on_failure.callback(self.close)
                version = self._prepare()
            except sqlite3.Error as error:
                msg = f"{path}: cannot be used as completions store ({error}); move it away or choose another folder"
                raise UsageError(msg) from error
            if version != SCHEMA_VERSION:
                msg = f"{path}: completions store of schema version {version}; this version reads {SCHEMA_VERSION}"
                raise UsageError(msg)
            on_failure.pop_all()

    def get(self, key: str) -> StoredReply | None:
        """Return the reply stored under a request's key, if any."""
        row = self._connection.execute(
            "SELECT reply, created FROM completions WHERE key = ?", (key,)
        ).fetchone()
        return None if row is None else StoredReply(Reply.from_json(json.loads(row[0])), row[1])

    def put(self, request: Request, reply: Reply, *, key: str | None = None) -> None:
        """Store a reply, under the request's key unless told; on return it survives the death of this process."""
        self._connection.execute(
            "INSERT OR REPLACE INTO completions VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                key or request.key,
                request.provider,
                request.model,
                request.role,
                # ASCII, because SQLite refuses the half surrogate pairs that models do produce.
                json.dumps(request.content),
                json.dumps(reply.to_json()),
                reply.created or time.time(),
            ),
        )

    def kept(self) -> Iterator[Kept]:
        """Yield everything, oldest first."""
        lines = self._connection.execute(
            "SELECT provider || '/' || model, content, reply, created FROM completions ORDER BY created, key"
        )
        for model, content, reply, created in lines:
            yield Kept(
                model, json.loads(content), StoredReply(Reply.from_json(json.loads(reply)), created)
            )

    def stocks(self) -> list[Stock]:
        """Return what there is of each model."""
        return [
            Stock(*line)
            for line in self._connection.execute(
                "SELECT provider || '/' || model AS name, count(*), min(created), max(created) FROM completions "
                "GROUP BY name ORDER BY name"
            )
        ]

    def absorb(self, path: Path) -> None:
        """Take every reply of the store at `path` that this one lacks; UsageError when it is none."""
        CompletionStore(path).close()  # which refuses what it cannot read
        self._connection.execute("ATTACH ? AS other", (str(path),))
        self._connection.execute(
            "INSERT OR IGNORE INTO completions SELECT * FROM other.completions"
        )
        self._connection.execute("DETACH other")

    def forget(self, before: float) -> int:
        """Delete the replies made before a moment (s since 1970) and return how many those were."""
        deleted = self._connection.execute(
            "DELETE FROM completions WHERE created < ?", (before,)
        ).rowcount
        self._connection.execute("VACUUM")
        return deleted

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _prepare(self) -> int:
        """Return the schema version; a file without one is new and becomes a store."""
        version: int = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, SCHEMA_VERSION):
            return version
        self._connection.execute("PRAGMA journal_mode=WAL")
        # A power cut may take the last commits of the operating system's buffers; a killed process
        # takes nothing.
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute(_SCHEMA)
        self._connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        return SCHEMA_VERSION
