"""The compressed parts of a page, which the browser opens when they are shown."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Final, NamedTuple

from pytest_llmeval.records import Json

CHUNK: Final = 256 * 1024
"""Characters of JSON in one chunk, which a browser inflates and parses in some milliseconds."""


SQUEEZED_TO: Final = 0.45
"""Size of ordinary text after compression and base64, at worst; used until a chunk is measured."""


class Slot(NamedTuple):
    """Where a value lies: the chunk's number, and the slot in its list."""

    chunk: int
    slot: int


class Pack:
    """Collects JSON values into compressed chunks, up to a budget of characters in the page."""

    def __init__(self, budget: int) -> None:
        """Take the number of characters of all chunks together; the last chunk may exceed it."""
        self.left = budget
        self._taken = self._given = 0
        self._open: list[str] = []
        self._open_size = 0
        self._chunks: list[str] = []

    @property
    def full(self) -> bool:
        """Whether the budget is used up."""
        return self.left <= 0

    @property
    def room(self) -> int:
        """How many characters of JSON still fit, estimated from the compression so far."""
        return int(self.left / (self._given / self._taken if self._taken else SQUEEZED_TO))

    def add(self, text: str) -> Slot:
        """Take one value as JSON text and return where it will lie."""
        place = Slot(len(self._chunks), len(self._open))
        self._open.append(text)
        self._open_size += len(text)
        if self._open_size >= CHUNK:
            self._close()
        return place

    def chunks(self) -> list[str]:
        """Return all chunks, each a JSON list."""
        self._close()
        return self._chunks

    def _close(self) -> None:
        if self._open:
            chunk = squeezed(f"[{','.join(self._open)}]".encode("ascii"))
            self.left -= len(chunk)
            self._taken, self._given = self._taken + self._open_size, self._given + len(chunk)
            self._chunks.append(chunk)
            self._open, self._open_size = [], 0


def squeezed(data: bytes) -> str:
    """Return bytes as the page holds them: deflated (zlib), in base64."""
    return base64.b64encode(zlib.compress(data)).decode("ascii")


def json_text(value: Json) -> str:
    """Return JSON that may stand in a script element: ASCII, and without ``<``."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def fair_share(sizes: list[int], budget: int) -> int:
    """Return the largest cap under which ``sum(min(size, cap))`` stays within `budget`.

    The budget itself when all fit.
    """
    left, waiting = budget, len(sizes)
    for size in sorted(sizes):
        if size * waiting > left:
            return left // waiting
        left -= size
        waiting -= 1
    return budget
