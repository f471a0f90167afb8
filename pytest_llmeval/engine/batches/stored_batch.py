"""A batch as it is written down in the journal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_DIGEST: Final = 32
"""Bytes of a request's key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBatch:
    """A batch as it is written down before it is sent.

    Attributes:
        mark: a text that no other batch has.
        model: the model's label (`ModelSpec.bare`).
        endpoint: address that the environment gave the provider then; "" for its default.
        group: what its requests have in common (`BatchService.group`).
        created: when it was written down (s since 1970).
        id: the provider's name of it; "" before it is known.
        is_read: whether its results are in the journal.
        keys: the keys of its requests (`Request.key`).
    """

    mark: str
    model: str
    endpoint: str
    group: str
    created: float
    id: str = ""
    is_read: bool = False
    keys: tuple[str, ...]


def row_of(batch: StoredBatch) -> tuple[object, ...]:
    """Return a batch as a row of the journal."""
    return (
        batch.mark,
        batch.model,
        batch.endpoint,
        batch.group,
        batch.created,
        batch.id,
        batch.is_read,
        packed(batch.keys),
    )


def batch_of(row: tuple[str, str, str, str, float, str, int, bytes]) -> StoredBatch:
    """Return the batch of a row of the journal."""
    mark, model, endpoint, group, created, batch, is_read, keys = row
    texts = (keys[at : at + _DIGEST].hex() for at in range(0, len(keys), _DIGEST))
    return StoredBatch(
        mark=mark,
        model=model,
        endpoint=endpoint,
        group=group,
        created=created,
        id=batch,
        is_read=bool(is_read),
        keys=tuple(texts),
    )


def packed(keys: Iterable[str]) -> bytes:
    """Return the keys of requests in 32 bytes each."""
    return b"".join(map(bytes.fromhex, keys))
