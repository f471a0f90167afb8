"""The soak's check: whether a session broke what README.md promises of paid replies.

What is promised of a run, however its sessions end:

1. A request whose reply is in the store is never sent again.
2. A reply that the session had received is in the store. Only replies that were still under way to
   a process, or being read by it, when this process or the server was ended may be missing: as many
   at most as there were requests in flight, for each such end. They are sent again by the next one.
3. A session sends no request again of which it has the reply.
4. What is stored stays stored.

Whether a reply was received shows in the ledger: a connection carries one request at a time, so a
reply with two later requests on its connection had long been read.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from soak_ledger import Entry, digest_of

CUTTING: Final = ("kill", "interrupt", "disk", "server")
"""Faults that may cut replies under way. After SIGTERM a session still waits for its replies."""

LATER: Final = 2
"""Later requests on its connection by which a reply counts as received."""


def stored_prompts(run: Path) -> set[str]:
    """Return the digests of the prompts whose replies a run folder holds.

    The store is copied first, so that it stays for the next session as the last one left it.
    """
    with tempfile.TemporaryDirectory() as folder:
        for file in run.glob("replies.sqlite3*"):
            shutil.copy(file, folder)
        copy = Path(folder, "replies.sqlite3")
        if not copy.exists():
            return set()
        with closing(sqlite3.connect(copy)) as store:
            if not [*store.execute("SELECT name FROM sqlite_master WHERE name = 'replies'")]:
                return set()
            records = [json.loads(one) for (one,) in store.execute("SELECT record FROM replies")]
    return {digest_of(_last_text(record)) for record in records}


def _last_text(record: Mapping[str, Any]) -> str:
    parts = record["content"]["messages"][-1]["parts"]
    return "".join(part.get("text", "") for part in parts)


@dataclass(kw_only=True)
class Books:
    """What was asked, paid and stored of one part, session by session.

    Attributes:
        in_flight: requests in flight at most.
        stored: digests of the prompts in the store after the last session.
        paid: how often each prompt was paid.
        cut: prompts of replies that an end has cut.
        faults: what the server did instead of replying, by kind.
        asked: requests.
        breaches: what broke a promise.
    """

    in_flight: int
    stored: set[str] = field(default_factory=set)
    paid: Counter[str] = field(default_factory=Counter)
    cut: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    breaches: list[str] = field(default_factory=list)

    @property
    def repeated(self) -> int:
        """Replies that were paid though an earlier one to the same prompt had been paid."""
        return sum(count - 1 for count in self.paid.values() if count > 1)

    def add(self, entries: Sequence[Entry], stored: set[str], *, faults: Sequence[str]) -> None:
        """Add a session: its entries of the ledger, what is stored after it, and what met it."""
        breaches = [
            *self._asked_again(entries),
            *self._vanished(stored),
            *self._lost(entries, stored, faults),
        ]
        self.breaches += breaches
        self.stored = stored
        self.asked += sum(entry.kind == "asked" for entry in entries)
        self.paid.update(entry.prompt for entry in entries if entry.kind == "paid")
        self.faults.update(entry.fault for entry in entries if entry.kind == "fault")

    def _asked_again(self, entries: Sequence[Entry]) -> Iterator[str]:
        for entry in entries:
            if entry.kind == "asked" and entry.prompt in self.stored:
                yield f"{entry.sample}: asked again although its reply is stored"

    def _vanished(self, stored: Collection[str]) -> Iterator[str]:
        for prompt in self.stored.difference(stored):
            yield f"prompt {prompt}: its reply was stored and is not any more"

    def _lost(
        self, entries: Sequence[Entry], stored: Collection[str], faults: Sequence[str]
    ) -> Iterator[str]:
        """Yield what is wrong with paid replies that are not stored, or were paid twice."""
        last = {entry.prompt: place for place, entry in enumerate(entries) if entry.kind == "paid"}
        later = _later_requests(entries)
        allowed = self.in_flight * sum(faults.count(fault) for fault in CUTTING)
        cut = 0
        for place, entry in enumerate(entries):
            if entry.kind != "paid" or (entry.prompt in stored and last[entry.prompt] == place):
                continue
            cut += 1
            self.cut[entry.prompt] += 1
            if later[place] >= LATER:
                yield f"{entry.sample}: its reply was received and is not stored"
        if cut > allowed:
            met = ", ".join(faults) or "no fault"
            yield f"{cut} paid replies were not stored or paid again, at most {allowed} may ({met})"


def _later_requests(entries: Sequence[Entry]) -> dict[int, int]:
    """Return for the place of each paid reply how many requests followed on its connection."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, entry in enumerate(entries):
        if entry.kind == "asked":
            places[entry.connection].append(place)
    return {
        place: sum(one > place for one in places[entry.connection])
        for place, entry in enumerate(entries)
        if entry.kind == "paid"
    }
