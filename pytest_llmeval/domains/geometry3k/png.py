"""PNG files that are as small as their pixels allow, and the same on every machine (ISO/IEC 15948).

A drawn diagram is part of a request, and stored replies are found by the bytes of the request.
"""

from __future__ import annotations

import struct
import zlib
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from pytest_llmeval.domains.geometry3k.deflate import deflated

Pixels: TypeAlias = npt.NDArray[np.uint8]
"""A picture as an array of shape (height, width, 3)."""

_PALETTE, _TRUE_COLOUR = 3, 2
_MOST_COLOURS: Final = 256
"""Colours of a palette."""

_PHOTOGRAPH: Final = 8
"""Pixels per colour below which a true-colour picture counts as a photograph.

The rows of photographs are filtered, because neighbouring pixels differ little and seldom repeat.
Drawings are not: a filter would break the repetitions that compress well."""

_NO_FILTER, _PAETH = 0, 4


def png(pixels: Pixels) -> bytes:
    """Return the picture as PNG: with a palette of up to 256 colours, else 24 bits a pixel."""
    height, width, _ = pixels.shape
    packed = pixels.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], dtype=np.uint32)
    colours, indices = np.unique(packed, return_inverse=True)
    kind, depth, step = _TRUE_COLOUR, 8, 3
    rows, palette = pixels.reshape(height, width * 3), b""
    if len(colours) <= _MOST_COLOURS:
        kind, depth, step = _PALETTE, _depth(len(colours)), 1
        rows = _in_bits(indices.reshape(height, width).astype(np.uint8), depth)
        channels = np.stack([colours >> 16, colours >> 8, colours], axis=1)
        palette = _chunk(b"PLTE", channels.astype(np.uint8).tobytes())
    photograph = kind == _TRUE_COLOUR and len(colours) * _PHOTOGRAPH > height * width
    mark = np.full((height, 1), _PAETH if photograph else _NO_FILTER, dtype=np.uint8)
    marked = np.hstack([mark, _paeth(rows, step) if photograph else rows])
    stride = marked.shape[1]
    near = (step, stride, stride - step, stride + step)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)),
            palette,
            _chunk(b"IDAT", deflated(marked.tobytes(), distances=near)),
            _chunk(b"IEND", b""),
        ]
    )  # fmt: skip - the chunks of a PNG, in order


def _depth(colours: int) -> int:
    """Return the fewest bits that hold the numbers of so many colours."""
    return next(depth for depth in (1, 2, 4, 8) if colours <= 1 << depth)


def _in_bits(indices: npt.NDArray[np.uint8], depth: int) -> npt.NDArray[np.uint8]:
    """Return the rows with several pixels in a byte, the leftmost highest."""
    bits = np.unpackbits(indices[:, :, None], axis=2)[:, :, 8 - depth :]
    return np.packbits(bits.reshape(len(indices), -1), axis=1)


def _paeth(rows: npt.NDArray[np.uint8], step: int) -> npt.NDArray[np.uint8]:
    """Return the rows as differences from the neighbour that is nearest to left + up - corner."""
    padded = np.pad(rows.astype(np.int16), ((1, 0), (step, 0)))
    left, up, corner = padded[1:, :-step], padded[:-1, step:], padded[:-1, :-step]
    guess = left + up - corner
    to_left, to_up, to_corner = (np.abs(guess - one) for one in (left, up, corner))
    nearest = np.where(to_up <= to_corner, up, corner)
    nearest = np.where((to_left <= to_up) & (to_left <= to_corner), left, nearest)
    return (rows - nearest).astype(np.uint8)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
