"""The ledger of the soak's model server: a line of JSON for each thing that happens to a request.

The server appends a line by one system call as soon as the thing has happened, so that a server
that is killed leaves whole lines.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["asked", "paid", "fault"]
"""What happened: a request came; a complete reply was sent, which costs money; something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line.

    Attributes:
        kind: what happened.
        prompt: digest of the request's last message (`digest_of`).
        sample: id of its sample.
        connection: the connection that the request came by, of which a client uses each for one
            request at a time.
        attempt: number of earlier requests of this prompt at this server process.
        fault: of a fault, its kind.
    """

    kind: Kind
    prompt: str
    sample: str
    connection: str
    attempt: int = 0
    fault: str = ""


def digest_of(text: str) -> str:
    """Return the digest by which a prompt is known in the ledger."""
    return hashlib.sha256(text.encode()).hexdigest()[:24]


class LedgerWriter:
    """The server's end of the ledger."""

    def __init__(self, path: Path) -> None:
        """Open the file for appending."""
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def add(self, entry: Entry) -> None:
        """Append an entry; on return it survives the death of this process."""
        os.write(self._file, json.dumps(asdict(entry)).encode() + b"\n")


class LedgerReader:
    """The soak's end of the ledger: each entry is read once, in order."""

    def __init__(self, path: Path) -> None:
        """Begin at the start of the file, which need not be there yet."""
        self._path, self._offset = path, 0

    def new(self) -> Iterator[Entry]:
        """Yield the entries since the last call."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._offset += len(line)
                yield Entry(**json.loads(line))
