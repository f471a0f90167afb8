"""The size of a picture by its header, and whether its file is whole; nothing is decoded.

A file of some bytes can declare a picture of gigabytes, so the size is known before any pixel is
decoded. Formats: PNG (ISO/IEC 15948), JPEG (ITU T.81), GIF89a, WebP (RFC 9649).
"""

from __future__ import annotations

import io
from typing import Final

from pytest_llmeval.records.message import MAX_PICTURE_BYTES, media_type_of
from pytest_llmeval.safety.regular_files import check_regular, open_regular

PIXEL_LIMIT: Final = 50_000_000
"""Most pixels of a picture that is sent or decoded (150 MB as RGB)."""

_HEAD: Final = 32
"""Bytes that hold the header of a PNG, GIF or WebP."""

_TAIL: Final = 64
"""Bytes in which the end of a picture is looked for: programs append a few of their own."""

_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of a JPEG's segments that hold its size."""

_SEGMENTS: Final = 1_000
"""Segments of a JPEG before its size at most."""


def check_picture_file(path: str) -> None:
    """Check the header and the end of a picture's file.

    Raises:
        OSError: the file cannot be read, is not a regular one, or is too large.
        ValueError: it is not a PNG, JPEG, GIF or WebP, is damaged or cut off, or has too many
            pixels.
    """
    check_regular(path, max_bytes=MAX_PICTURE_BYTES)
    with open_regular(path) as file:
        data = file.read()
    picture_size(data)
    if not _is_whole(media_type_of(data[:_HEAD]), data[:_HEAD], data[-_TAIL:], len(data)):
        msg = "cut off: the end of the picture is missing"
        raise ValueError(msg)


def picture_size(data: bytes) -> tuple[int, int]:
    """Return a picture's width and height in pixels as its header declares them.

    Raises:
        ValueError: it is not a PNG, JPEG, GIF or WebP, is damaged, or has too many pixels.
    """
    head = data[:_HEAD]
    media_type = media_type_of(head)
    if media_type == "image/jpeg":
        return within_limit(*_jpeg_size(io.BytesIO(data)))
    return within_limit(*_size(media_type, head))


def within_limit(width: int, height: int) -> tuple[int, int]:
    """Return a picture's size; ValueError if it has no pixels, or more than PIXEL_LIMIT."""
    if not 0 < width * height <= PIXEL_LIMIT:
        msg = (
            f"a picture of {width} x {height} pixels is refused; "
            f"at most {PIXEL_LIMIT:,} pixels are decoded"
        )
        raise ValueError(msg)
    return width, height


def _size(media_type: str, head: bytes) -> tuple[int, int]:
    """Return width and height of a PNG, GIF or WebP."""
    kind = head[12:16]
    if len(head) >= _HEAD - 2:
        if media_type == "image/png" and kind == b"IHDR":
            return _big(head[16:20]), _big(head[20:24])
        if media_type == "image/gif":
            return _little(head[6:8]), _little(head[8:10])
        if media_type == "image/webp" and kind == b"VP8X":
            return _little(head[24:27]) + 1, _little(head[27:30]) + 1
        if media_type == "image/webp" and kind == b"VP8L":
            bits = _little(head[21:25])
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        if media_type == "image/webp" and kind == b"VP8 ":
            return _little(head[26:28]) & 0x3FFF, _little(head[28:30]) & 0x3FFF
    raise _damaged()


def _jpeg_size(file: io.BytesIO) -> tuple[int, int]:
    file.seek(2)
    for _ in range(_SEGMENTS):
        mark = file.read(4)
        if len(mark) < 4 or mark[0] != 0xFF:  # noqa: PLR2004 - a marker and its length
            break
        if mark[1] in _FRAMES:
            frame = file.read(5)
            return _big(frame[3:5]), _big(frame[1:3])
        # A fill byte before a marker, or a segment to pass over.
        file.seek(-3 if mark[1] == 0xFF else _big(mark[2:4]) - 2, 1)  # noqa: PLR2004 - fill byte
    raise _damaged()


def _is_whole(media_type: str, head: bytes, tail: bytes, size: int) -> bool:
    if media_type == "image/webp":
        return _little(head[4:8]) + 8 <= size
    if media_type == "image/gif":
        return tail.rstrip(b"\0").endswith(b"\x3b")
    return (b"IEND" if media_type == "image/png" else b"\xff\xd9") in tail


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _damaged() -> ValueError:
    return ValueError("damaged: its header holds no size")
