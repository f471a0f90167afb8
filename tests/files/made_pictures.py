"""Pictures made for tests, and their parts: chunks of a PNG and a WebP, segments of a JPEG."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from typing import Any

from PIL import Image as Pillow

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
ORIENTATION = 0x0112


def corners(width: int = 48, height: int = 32) -> Pillow.Image:
    """Return a picture with red, green, blue and yellow quarters, clockwise from the top left."""
    picture = Pillow.new("RGB", (width, height), "red")
    picture.paste("lime", (width // 2, 0, width, height // 2))
    picture.paste("blue", (width // 2, height // 2, width, height))
    picture.paste("yellow", (0, height // 2, width // 2, height))
    return picture


def encoded(picture: Pillow.Image, kind: str, **options: Any) -> bytes:
    """Return a picture's bytes."""
    stream = io.BytesIO()
    picture.save(stream, kind, **options)
    return stream.getvalue()


def opened(data: bytes) -> Pillow.Image:
    """Return a picture as pillow decodes it, here and now."""
    picture = Pillow.open(io.BytesIO(data))
    picture.load()
    return picture


def noise(kind: str, width: int = 40, height: int = 30, **options: Any) -> bytes:
    """Return a picture of noise, which no format packs to nothing."""
    return encoded(Pillow.effect_noise((width, height), 100).convert("RGB"), kind, **options)


def exif_of(orientation: int) -> Pillow.Exif:
    """Return EXIF data that turn a picture."""
    exif = Pillow.Exif()
    exif[ORIENTATION] = orientation
    return exif


def png_chunk(kind: bytes, content: bytes) -> bytes:
    """Return a chunk of a PNG, with its sum."""
    sum_ = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", sum_)


def deep_png(width: int, height: int, colour: int, samples: list[int], *more: bytes) -> bytes:
    """Return a PNG of 16 bits a sample; `more` are chunks before its pixels."""
    row = len(samples) // height
    rows = b"".join(
        b"\0" + struct.pack(f">{row}H", *samples[at : at + row])
        for at in range(0, len(samples), row)
    )
    header = struct.pack(">IIBBBBB", width, height, 16, colour, 0, 0, 0)
    parts = [png_chunk(b"IHDR", header), *more, png_chunk(b"IDAT", zlib.compress(rows))]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts) + png_chunk(b"IEND", b"")


def parts_of(kind: str, data: bytes) -> list[tuple[int, int]]:
    """Return where each part of a picture's file starts and ends: its chunks, segments or blocks.

    A GIF has no lengths to walk by: its parts are eight equal ones.
    """
    walk = {"PNG": _png_parts, "WEBP": _webp_parts, "JPEG": _jpeg_parts}.get(kind)
    if walk is not None:
        return list(walk(data))
    step = max(1, len(data) // 8)
    return [(at, min(at + step, len(data))) for at in range(0, len(data), step)]


def _png_parts(data: bytes) -> Iterator[tuple[int, int]]:
    yield 0, 8
    at = 8
    while at < len(data):
        end = at + 12 + int.from_bytes(data[at : at + 4], "big")
        yield at, end
        at = end


def _webp_parts(data: bytes) -> Iterator[tuple[int, int]]:
    yield 0, 12
    at = 12
    while at < len(data):
        length = int.from_bytes(data[at + 4 : at + 8], "little")
        end = at + 8 + length + length % 2
        yield at, end
        at = end


def _jpeg_parts(data: bytes) -> Iterator[tuple[int, int]]:
    yield 0, 2
    at = 2
    while data[at + 1] != 0xDA:
        end = at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
        yield at, end
        at = end
    yield at, at + 14
    yield at + 14, len(data) - 2
    yield len(data) - 2, len(data)
