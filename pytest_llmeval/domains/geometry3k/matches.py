"""Repetitions in bytes, as DEFLATE copies them: a length and a distance back (RFC 1951, 2).

All places are looked at together, with numpy. Nothing depends on the machine or on versions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

SHORTEST: Final = 3
LONGEST: Final = 258
WINDOW: Final = 32_768
"""Bytes of a copy, and how far back it may begin."""

Bytes: TypeAlias = npt.NDArray[np.uint8]
Numbers: TypeAlias = npt.NDArray[np.int32]

_LOOKED_UP: Final = (3, 4, 8, 16, 32)
"""For each, the nearest earlier place with so many equal bytes is tried."""

_LONG: Final = 24
"""Copies of so many bytes at a given distance are taken as they are."""

_FAR: Final = 4_096
"""A copy of three bytes from farther away takes more bits than the bytes themselves."""

_WORD: Final = 8
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)


class Matches(NamedTuple):
    """For each byte the longest copy found that begins there: bytes (0: none), and how far back."""

    lengths: Numbers
    distances: Numbers


def matches(data: Bytes, distances: Iterable[int]) -> Matches:
    """Return the copies in `data`: at the given distances, and from nearest equal beginnings.

    Args:
        data: the bytes.
        distances: that are likely, such as that of a pixel and of a row; of equally long copies the
            first one counts.
    """
    found = Matches(np.zeros(len(data), np.int32), np.zeros(len(data), np.int32))
    for distance in distances:
        if 0 < distance < min(len(data), WINDOW + 1):
            lengths = _lengths_at(data, distance)
            longer = lengths > found.lengths
            found.lengths[longer], found.distances[longer] = lengths[longer], distance
    words = _words(data)
    open_places = np.flatnonzero(found.lengths < _LONG)
    for size in _LOOKED_UP:
        here, there = _equal_beginnings(words, open_places, size)
        # A longer copy has the byte behind the one found so far, too; few candidates do.
        so_far = found.lengths[here]
        differing = (words[here + so_far] ^ words[there + so_far]) & np.uint64(255)
        here, there = here[differing == 0], there[differing == 0]
        lengths = np.minimum(_common(words, here, there), len(data) - here)
        longer = lengths > found.lengths[here]
        found.lengths[here[longer]] = lengths[longer]
        found.distances[here[longer]] = (here - there)[longer]
    costly = (found.lengths == SHORTEST) & (found.distances > _FAR)
    found.lengths[costly | (found.lengths < SHORTEST)] = 0
    return found


def steps(found: Matches, start: int) -> tuple[Numbers, Numbers]:
    """Return the places to write from `start` on, and the bytes to copy to each; 0: a plain byte.

    A copy is put off by a byte where a longer one begins behind it.
    """
    lengths = [*found.lengths.tolist(), 0]
    places, copied = [], []
    place, end = start, len(lengths) - 1
    while place < end:
        length = lengths[place] if lengths[place + 1] <= lengths[place] else 0
        places.append(place)
        copied.append(length)
        place += length or 1
    return np.array(places, np.int32), np.array(copied, np.int32)


def _lengths_at(data: Bytes, distance: int) -> Numbers:
    """Return how many bytes from each place on equal those `distance` before."""
    places = np.arange(len(data), dtype=np.int32)
    ends = places.copy()
    ends[distance:][data[distance:] == data[:-distance]] = len(data)
    ends = np.minimum.accumulate(ends[::-1])[::-1]
    lengths: Numbers = np.minimum(ends - places, LONGEST)
    return lengths


def _words(data: Bytes) -> npt.NDArray[np.uint64]:
    """Return the eight bytes from each place on as one number, with zeros behind the end."""
    padded = data.tobytes() + bytes(LONGEST + 2 * _WORD)
    return np.ndarray((len(padded) - _WORD,), dtype="<u8", buffer=padded, strides=(1,))


def _equal_beginnings(
    words: npt.NDArray[np.uint64], places: npt.NDArray[Any], size: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return places and, for each, the nearest earlier one that seems to have equal `size` bytes.

    Of more than a word a hash is compared, so the bytes may differ.
    """
    keys = words[places] << np.uint64(max(0, _WORD - size) * 8)
    for offset in range(_WORD, size, _WORD):
        keys = (keys * _MIX ^ keys >> np.uint64(32)) + words[places + offset]
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    here, there = places[order[same + 1]], places[order[same]]
    near = here - there <= WINDOW
    return here[near], there[near]


def _common(
    words: npt.NDArray[np.uint64], here: npt.NDArray[Any], there: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """Return how many bytes are equal from `here` and from `there` on, for each pair of places."""
    lengths = np.zeros(len(here), np.int64)
    going = np.arange(len(here))
    while len(going):
        done = lengths[going]
        differing = words[here[going] + done] ^ words[there[going] + done]
        ended = differing != 0
        unequal = differing[ended].astype("<u8").view(np.uint8).reshape(-1, _WORD) != 0
        lengths[going[ended]] += unequal.argmax(axis=1)
        going = going[~ended]
        lengths[going] += _WORD
        going = going[lengths[going] < LONGEST]
    return np.minimum(lengths, LONGEST)
