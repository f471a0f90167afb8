"""Drawings over pictures: red, labelled, and byte for byte the same on every machine."""

from __future__ import annotations

import hashlib
import io
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pillow

from pytest_llmeval.domains.geometry3k.canvas import RED, draw_over
from pytest_llmeval.domains.geometry3k.drawing import Drawing
from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.images import picture_size

DIAGRAM = Path(__file__).parents[3] / "fixtures/geometry3k/images/015_chord_distance.png"


def picture(width: int, height: int, *, mode: str = "RGB", colour: Any = "white") -> bytes:
    """Return a PNG of one colour."""
    stream = io.BytesIO()
    Pillow.new(mode, (width, height), colour).save(stream, "PNG")
    return stream.getvalue()


def pixels(data: bytes) -> Pillow.Image:
    """Return the decoded picture in RGB."""
    return Pillow.open(io.BytesIO(data)).convert("RGB")


def red(data: bytes) -> set[tuple[int, int]]:
    """Return the places of a picture that are red."""
    decoded = pixels(data)
    return {
        (x, y)
        for x in range(decoded.width)
        for y in range(decoded.height)
        if decoded.getpixel((x, y)) == RED
    }


def test_strokes_are_red_and_the_rest_stays() -> None:
    original = DIAGRAM.read_bytes()
    drawn = draw_over(original, Drawing(lines=(((10, 10), (60, 10)),)))
    assert (30, 10) in red(drawn)
    assert all(8 <= x <= 62 and 8 <= y <= 12 for x, y in red(drawn))
    below = (0, 13, 420, 330)
    assert pixels(drawn).crop(below).tobytes() == pixels(original).crop(below).tobytes()


def test_a_circle_is_a_line_not_a_disc() -> None:
    drawn = pixels(draw_over(picture(200, 200), Drawing(circles=(((100, 100), 50),))))
    assert drawn.getpixel((150, 100)) == drawn.getpixel((100, 50)) == RED
    assert drawn.getpixel((100, 100)) == drawn.getpixel((170, 100)) == (255, 255, 255)


def test_a_point_carries_its_label() -> None:
    dot = draw_over(picture(200, 200), Drawing(points=(("H", (100, 100)),)))
    other = draw_over(picture(200, 200), Drawing(points=(("M", (100, 100)),)))
    assert pixels(dot).getpixel((100, 100)) == RED
    assert dot != other


@pytest.mark.parametrize("at", [(0, 0), (200, 0), (0, 200), (200, 200), (199, 100)])
def test_a_label_at_the_edge_is_moved_inside(at: tuple[int, int]) -> None:
    def letters(at: tuple[int, int]) -> int:
        drawn, bare = (
            draw_over(picture(200, 200), Drawing(points=((label, at),))) for label in ("W1", "")
        )
        return len(red(drawn) - red(bare))

    assert letters(at) == letters((100, 100)) > 0


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (2, 300)])
def test_a_tiny_picture_can_be_drawn_on(size: tuple[int, int]) -> None:
    drawing = Drawing(
        points=(("ABC", (0, 0)), ("X", size)), lines=(((0, 0), size), ((0, 0), (0, 0)))
    )
    assert picture_size(draw_over(picture(*size), drawing)) == size


def test_what_is_transparent_becomes_paper() -> None:
    drawn = draw_over(
        picture(50, 50, mode="RGBA", colour=(0, 0, 0, 0)), Drawing(lines=(((0, 0), (9, 0)),))
    )
    assert pixels(drawn).getpixel((40, 40)) == (255, 255, 255)


def test_a_picture_of_many_colours_keeps_them() -> None:
    gradient = Pillow.new("RGB", (64, 64))
    gradient.putdata([(x * 4, y * 4, 7) for y in range(64) for x in range(64)])
    stream = io.BytesIO()
    gradient.save(stream, "PNG")
    drawn = pixels(draw_over(stream.getvalue(), Drawing(lines=(((0, 0), (5, 0)),))))
    assert drawn.crop((0, 10, 64, 64)).tobytes() == gradient.crop((0, 10, 64, 64)).tobytes()


def test_the_bytes_are_the_same_on_every_machine() -> None:
    drawing = Drawing(
        points=(("H1'", (90, 55)),),
        lines=(((20, 65), (180, 95)),),
        circles=(((100, 75), 60.5),),
    )
    assert hashlib.sha256(draw_over(picture(200, 150), drawing)).hexdigest() == (
        "e1fda2fcfa4e942c2b655762bbcdaba941186348c20e32fb3fe5924d75b24e90"
    )


def test_without_pillow_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(UsageError, match=r"pip install 'pytest-llmeval-suite\[vision\]'"):
        draw_over(DIAGRAM.read_bytes(), Drawing(lines=(((0, 0), (1, 1)),)))
