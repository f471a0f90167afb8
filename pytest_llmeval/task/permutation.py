"""Random orders that are the same on every machine and with every version of Python."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator


def permuted(count: int, key: str) -> Iterator[int]:
    """Yield 0..`count` - 1 in a random order that follows from `key` alone.

    The first numbers cost no more than their own number, however large `count` is. (The shuffle of
    Fisher and Yates, whose random numbers are SHA-256 hashes.)
    """
    moved: dict[int, int] = {}
    for place in range(count):
        other = place + stable_hash(f"{key}\0{place}") % (count - place)
        yield moved.get(other, other)
        moved[other] = moved.get(place, place)


def stable_hash(text: str) -> int:
    """Return a hash of a text, below 2**256."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
