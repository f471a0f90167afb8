"""The rows of a stored run, by their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import overload

from pytest_llmeval.records import Row, RowKey


class RowSequence(Sequence[Row]):
    """Rows in the order of their keys; each is read whenever it is asked for.

    A slice is a list of rows, which are read.
    """

    def __init__(self, by_key: Mapping[RowKey, Row]) -> None:
        """Show the rows of `by_key`; nothing is read before one is asked for."""
        self._by_key = by_key

    @overload
    def __getitem__(self, place: int) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...

    def __getitem__(self, place: int | slice) -> Row | list[Row]:
        """Return the row at a place, or those of a slice; IndexError beyond the last."""
        if isinstance(place, slice):
            return [self._by_key[key] for key in self._keys[place]]
        return self._by_key[self._keys[place]]

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows."""
        return iter(self._by_key.values())

    def __len__(self) -> int:
        """Return the number of rows; none is read."""
        return len(self._by_key)

    def __repr__(self) -> str:
        """Return what holds the rows."""
        return f"{type(self).__name__}({self._by_key!r})"

    @cached_property
    def _keys(self) -> tuple[RowKey, ...]:
        return tuple(self._by_key)
