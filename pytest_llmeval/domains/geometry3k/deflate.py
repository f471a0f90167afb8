"""Compression to a zlib stream that is byte for byte the same on every machine (RFC 1950, 1951).

The library zlib has several builds, whose streams differ; those of zlib-ng come with newer Pythons.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from pytest_llmeval.domains.geometry3k.huffman import code_lengths, codes
from pytest_llmeval.domains.geometry3k.matches import WINDOW, Bytes, Matches, matches, steps

PIECE: Final = 2**19
"""Bytes of one block, which bounds the memory: about 60 bytes for each of them."""

_STORED: Final = 65_535
"""Most bytes of a stored block."""

_END: Final = 256
_SYMBOLS, _DISTANCES = 286, 30
_LONGEST_CODE, _LONGEST_META = 15, 7

_LENGTH_EXTRA: Final = np.array([0] * 8 + [n for n in range(1, 6) for _ in range(4)] + [0])
_LENGTH_FROM: Final = np.append(
    3 + np.cumsum(2 ** _LENGTH_EXTRA[:-1]) - 2 ** _LENGTH_EXTRA[:-1], 258
)
_DISTANCE_EXTRA: Final = np.array([0, 0] + [n for n in range(14) for _ in range(2)])
_DISTANCE_FROM: Final = 1 + np.cumsum(2**_DISTANCE_EXTRA) - 2**_DISTANCE_EXTRA
"""Extra bits and first value of each code of lengths (from symbol 257 on) and of distances."""

_META_ORDER: Final = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)
_META_EXTRA: Final = {16: 2, 17: 3, 18: 7}

_Words: TypeAlias = npt.NDArray[np.uint64]
_Bits: TypeAlias = tuple[_Words, npt.NDArray[np.int64]]
"""Numbers, and how many of their bits are written, the lowest first."""


_BEGIN_OF_STORED: Final[_Bits] = np.zeros(1, np.uint64), np.array([3])
_EMPTY: Final = b"\0\0\xff\xff"
"""An empty stored block: its first bits, and what follows in the next byte. It fills the last byte
of a piece."""


def deflated(data: bytes, *, distances: Sequence[int]) -> bytes:
    """Return `data` as a zlib stream.

    Args:
        data: the bytes.
        distances: back to bytes that are likely the same, the likeliest first.
    """
    whole = np.frombuffer(data, np.uint8)
    starts = range(0, max(len(data), 1), PIECE)
    blocks = (_piece(whole, start, distances, last=start == starts[-1]) for start in starts)
    return b"".join([b"\x78\x01", *blocks, zlib.adler32(data).to_bytes(4, "big")])


def _piece(whole: Bytes, start: int, distances: Sequence[int], *, last: bool) -> bytes:
    """Return one piece, compressed or, where that is not smaller, stored; it ends with a byte."""
    window = max(0, start - WINDOW)
    data = whole[window : start + PIECE]
    packed = _packed(_block(data, start - window, matches(data, distances), last=last))
    packed += b"" if last else _EMPTY
    stored = _stored(data[start - window :].tobytes(), last=last)
    return min(packed, stored, key=len)


def _stored(data: bytes, *, last: bool) -> bytes:
    parts = []
    for start in range(0, max(len(data), 1), _STORED):
        part = data[start : start + _STORED]
        final = last and start + _STORED >= len(data)
        size = len(part).to_bytes(2, "little")
        parts += [bytes([final]), size, bytes(255 - byte for byte in size), part]
    return b"".join(parts)


def _block(data: Bytes, start: int, found: Matches, *, last: bool) -> list[_Bits]:
    """Return one block compressed with dynamic Huffman codes (RFC 1951, section 3.2.7)."""
    places, copied = steps(found, start)
    is_copy = copied > 0
    kinds = np.searchsorted(_LENGTH_FROM, copied, "right") - 1
    symbols = np.where(is_copy, 257 + kinds, data[places])
    back = found.distances[places[is_copy]]
    far = np.searchsorted(_DISTANCE_FROM, back, "right") - 1

    counts = np.bincount(symbols, minlength=_SYMBOLS)
    counts[_END] = 1
    lengths = code_lengths(counts.tolist(), _LONGEST_CODE)
    of_distances = code_lengths(np.bincount(far, minlength=_DISTANCES).tolist(), _LONGEST_CODE)

    written = _written(symbols, lengths)
    copies = _joined(
        (written[0][is_copy], written[1][is_copy]),
        ((copied - _LENGTH_FROM[kinds])[is_copy], _LENGTH_EXTRA[kinds[is_copy]]),
        _written(far, of_distances),
        (back - _DISTANCE_FROM[far], _DISTANCE_EXTRA[far]),
    )
    for all_steps, of_copies in zip(written, copies, strict=True):
        all_steps[is_copy] = of_copies
    head, end = _head(lengths, of_distances, last=last), _written(np.array([_END]), lengths)
    return [head, written, end, *([] if last else [_BEGIN_OF_STORED])]


def _head(lengths: list[int], of_distances: list[int], *, last: bool) -> _Bits:
    """Return the head of a block: the lengths of its codes, themselves coded."""
    shown = lengths[: max(_END + 1, _used(lengths))], of_distances[: _used(of_distances)]
    runs = list(_runs(shown[0] + shown[1]))
    symbols, rest = np.array(runs, np.int64).T
    meta = code_lengths(np.bincount(symbols, minlength=19).tolist(), _LONGEST_META)
    ordered = [meta[symbol] for symbol in _META_ORDER]
    count = max(4, _used(ordered))
    extra = np.array([_META_EXTRA.get(symbol, 0) for symbol, _ in runs])
    coded = _joined(_written(symbols, meta), (rest, extra))
    fields = [
        (int(last), 1),
        (2, 2),
        (len(shown[0]) - 257, 5),
        (len(shown[1]) - 1, 5),
        (count - 4, 4),
        *((one, 3) for one in ordered[:count]),
    ]
    values, bits = np.array(fields, np.int64).T
    return np.append(values.astype(np.uint64), coded[0]), np.append(bits, coded[1])


def _used(lengths: Sequence[int]) -> int:
    """Return how many of the lengths are left without the zeros at their end."""
    return max(place for place, length in enumerate(lengths, 1) if length)


def _runs(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the symbols that write code lengths, each with the value of its extra bits."""
    for length, group in groupby(lengths):
        left = len(list(group))
        if length:
            yield length, 0
            left -= 1
        while left >= 3:  # noqa: PLR2004 - the shortest run
            most = 6 if length else 138
            count = min(left, most)
            left -= count
            if length:
                yield 16, count - 3
            elif count < 11:  # noqa: PLR2004 - where symbol 18 begins
                yield 17, count - 3
            else:
                yield 18, count - 11
        yield from [(length, 0)] * left


def _written(symbols: npt.NDArray[np.int64], lengths: Sequence[int]) -> _Bits:
    return codes(lengths)[symbols], np.array(lengths)[symbols]


def _joined(*fields: tuple[npt.NDArray[np.generic], npt.NDArray[np.int64]]) -> _Bits:
    """Return fields that are written one after the other as one number each."""
    values = np.zeros(len(fields[0][0]), np.uint64)
    bits = np.zeros(len(values), np.int64)
    for value, width in fields:
        values |= value.astype(np.uint64) << bits.astype(np.uint64)
        bits += width
    return values, bits


def _packed(parts: Sequence[_Bits]) -> bytes:
    """Return the bits as bytes, zeros behind them."""
    values = np.concatenate([part[0] for part in parts])
    widths = np.concatenate([part[1] for part in parts])
    ends = np.cumsum(widths)
    within = np.arange(ends[-1]) - np.repeat(ends - widths, widths)
    bits = np.repeat(values, widths) >> within.astype(np.uint64) & np.uint64(1)
    return np.packbits(bits.astype(np.uint8), bitorder="little").tobytes()
