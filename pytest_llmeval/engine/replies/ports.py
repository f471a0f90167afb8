"""What a run reads earlier replies from, and what it writes its replies to."""

from __future__ import annotations

from typing import Protocol

from pytest_llmeval.engine.replies.stored_reply import StoredReply
from pytest_llmeval.records import Request


class ReplySource(Protocol):
    """A place of stored replies: a folder of replies, a run, or a recording."""

    def find(self, request: Request) -> StoredReply | None:
        """Return the stored reply to a request, its pictures at absolute paths, or None."""
        ...

    def close(self) -> None:
        """Close the files."""
        ...


class ReplyKeeper(Protocol):
    """A place that a run writes its replies to, besides its own folder."""

    def keep(self, stored: StoredReply, *, live: bool) -> None:
        """Store a reply with copies of its pictures; on return the process may die.

        Args:
            stored: the reply, and what was asked.
            live: whether a model made the reply just now. It did not if the reply was stored
                before, or came from a recording.

        Raises:
            OSError: the file cannot be written.
            sqlite3.Error: the database cannot be written.
        """
        ...

    def close(self) -> None:
        """Complete and close the files."""
        ...
