"""The completions store: every reply of a run in one SQLite file, kept before anyone sees it."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Reply, Request

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


class CompletionStore:
    """Replies by request key. One process writes (the engine's thread); others may read at the same time."""

    def __init__(self, path: Path | None) -> None:
        """Open or make the file at `path`; None keeps the replies in a temporary file that vanishes on close.

        UsageError when the file is of another schema version, or no database.
        """
        with ExitStack() as on_failure:
            try:
                self._connection = sqlite3.connect("" if path is None else path, isolation_level=None)
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
        row = self._connection.execute("SELECT reply, created FROM completions WHERE key = ?", (key,)).fetchone()
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

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _prepare(self) -> int:
        """Return the schema version; a file without one is new and becomes a store."""
        version: int = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, SCHEMA_VERSION):
            return version
        self._connection.execute("PRAGMA journal_mode=WAL")
        # A power cut may take the last commits of the operating system's buffers; a killed process takes nothing.
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute(_SCHEMA)
        self._connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        return SCHEMA_VERSION
