"""Pictures written as PNG: read back by two decoders, small, and always the same bytes."""

from __future__ import annotations

import io
import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as Pillow

from pytest_llmeval.domains.geometry3k.canvas import draw_over
from pytest_llmeval.domains.geometry3k.drawing import Drawing
from pytest_llmeval.domains.geometry3k.png import Pixels, png

DIAGRAMS = sorted((Path(__file__).parents[3] / "fixtures/geometry3k/images").glob("*.png"))[::5]


def flat(width: int, height: int, _: np.random.Generator) -> Pixels:
    return np.full((height, width, 3), (9, 8, 7), np.uint8)


def stripes(width: int, height: int, rng: np.random.Generator) -> Pixels:
    colours = rng.integers(0, 256, (int(rng.integers(2, 20)), 3), dtype=np.uint8)
    lines = (np.arange(width)[None, :] // 3 + np.arange(height)[:, None]) % len(colours)
    striped: Pixels = colours[lines]
    return striped


def few_colours(width: int, height: int, rng: np.random.Generator) -> Pixels:
    colours = rng.integers(0, 256, (int(rng.integers(1, 300)), 3), dtype=np.uint8)
    return colours[rng.integers(0, len(colours), (height, width))]


def noise(width: int, height: int, rng: np.random.Generator) -> Pixels:
    return rng.integers(0, 256, (height, width, 3), dtype=np.uint8)


def slope(width: int, height: int, _: np.random.Generator) -> Pixels:
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    return np.stack([x, y, x + y], axis=2).astype(np.uint8)


def read_by_hand(data: bytes) -> Pixels:
    """Return the pixels of one of our PNGs, decoded by zlib and by the standard's text."""
    chunks = {}
    place = 8
    while place < len(data):
        (size,) = struct.unpack_from(">I", data, place)
        kind, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + size]
        (crc,) = struct.unpack_from(">I", data, place + 8 + size)
        assert crc == zlib.crc32(kind + body)
        chunks[kind] = body
        place += 12 + size
    width, height, depth, kind_of_colour = struct.unpack_from(">IIBB", chunks[b"IHDR"])
    step = 1 if kind_of_colour == 3 else 3
    stride = (width * depth * step + 7) // 8
    raw = zlib.decompress(chunks[b"IDAT"])
    assert len(raw) == height * (stride + 1)
    above, rows = bytes(stride), []
    for start in range(0, len(raw), stride + 1):
        row = bytearray(raw[start + 1 : start + 1 + stride])
        if raw[start]:
            assert raw[start] == 4
            for n in range(stride):
                left, corner = (row[n - step], above[n - step]) if n >= step else (0, 0)
                guess = left + above[n] - corner
                near = min((left, above[n], corner), key=lambda one: abs(guess - one))
                row[n] = (row[n] + near) & 255
        rows.append(row)
        above = bytes(row)
    found = np.array(rows, np.uint8)
    if step == 3:
        return found.reshape(height, width, 3)
    palette = np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3)
    bits = np.unpackbits(found, axis=1)[:, : width * depth].reshape(height, width, depth)
    return palette[bits @ (1 << np.arange(depth)[::-1])]


@pytest.mark.parametrize("kind", [flat, stripes, few_colours, noise, slope])
def test_two_decoders_give_the_pixels_back(
    kind: Callable[[int, int, np.random.Generator], Pixels],
) -> None:
    @settings(max_examples=15, deadline=None)
    @given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**32))
    def check(width: int, height: int, seed: int) -> None:
        pixels = kind(width, height, np.random.default_rng(seed))
        data = png(pixels)
        assert np.array_equal(np.asarray(Pillow.open(io.BytesIO(data)).convert("RGB")), pixels)
        assert np.array_equal(read_by_hand(data), pixels)
        assert len(data) <= pixels.size + height + 800

    check()


@pytest.mark.parametrize("size", [(1, 1), (5_000, 1), (1, 5_000), (2_047, 3)])
def test_odd_sizes_are_no_exception(size: tuple[int, int]) -> None:
    for kind in (flat, stripes, noise):
        pixels = kind(*size, np.random.default_rng(1))
        assert np.array_equal(read_by_hand(png(pixels)), pixels)


@pytest.mark.parametrize(
    ("colours", "depth"),
    [(1, 1), (2, 1), (3, 2), (4, 2), (5, 4), (16, 4), (17, 8), (256, 8), (257, 24)],
)
def test_a_pixel_takes_the_fewest_bits_that_hold_its_colours(colours: int, depth: int) -> None:
    numbers = np.resize(np.arange(colours, dtype=np.uint16), (20, 20))
    pixels = np.stack([numbers >> 8, numbers & 255, numbers & 255], axis=2).astype(np.uint8)
    data = png(pixels)
    assert data[24] * (1 if data[25] == 3 else 3) == depth
    assert np.array_equal(read_by_hand(data), pixels)


def test_our_diagrams_take_little_more_than_zlib_needs() -> None:
    ours = theirs = 0
    for file in DIAGRAMS:
        pixels = np.asarray(Pillow.open(file).convert("RGB"), dtype=np.uint8)
        data = png(pixels)
        rows = zlib.decompress(data[data.index(b"IDAT") + 4 : -16])
        ours += len(data)
        theirs += len(data) - len(data[data.index(b"IDAT") + 4 : -16]) + len(zlib.compress(rows, 9))
    assert ours < 1.1 * theirs


def test_public_diagrams_with_a_drawing_are_smaller_than_the_diagrams(shared: Path) -> None:
    files = sorted((shared / "data/geometry3k/images").rglob("*.png"))[::60]
    drawing = Drawing(points=(("M", (9, 9)),), lines=(((0, 0), (20, 20)),))
    drawn = [len(draw_over(file.read_bytes(), drawing)) for file in files]
    assert sum(drawn) < 0.9 * sum(file.stat().st_size for file in files)


def test_neighbours_that_differ_little_are_written_as_differences() -> None:
    pixels = slope(256, 256, np.random.default_rng(1))
    assert len(png(pixels)) < pixels.size / 50


def test_a_large_picture_is_written_in_pieces() -> None:
    rng = random.Random(1)
    pixels = np.full((900, 900, 3), 255, np.uint8)
    for _ in range(2_000):
        x, y = rng.randrange(900), rng.randrange(900)
        pixels[y, x] = rng.randrange(256), rng.randrange(256), rng.randrange(256)
    data = png(pixels)
    assert np.array_equal(np.asarray(Pillow.open(io.BytesIO(data)).convert("RGB")), pixels)
    assert len(data) < 30_000
