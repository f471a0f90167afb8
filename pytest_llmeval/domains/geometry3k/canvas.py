"""Drawing over pictures, with results that are byte for byte the same on every machine.

A drawn diagram is part of a request, and stored replies are found by the bytes of the request.
Pillow's fonts and the zlib behind its PNG writer differ between versions and builds, so neither is
used here.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from pytest_llmeval.domains.geometry3k.drawing import Drawing
from pytest_llmeval.domains.geometry3k.png import Pixels, png
from pytest_llmeval.files.images import decoded

RED: Final = (220, 0, 0)
"""Colour of all that is added to a diagram; the published prompt proposes it."""

_GLYPH_WIDTH, _GLYPH_HEIGHT = 5, 7
_GLYPHS: Final = {
    letter: bytes.fromhex(rows)
    for letter, rows in {
        "A": "0E11111F111111",
        "B": "1E11111E11111E",
        "C": "0E11101010110E",
        "D": "1E11111111111E",
        "E": "1F10101E10101F",
        "F": "1F10101E101010",
        "G": "0E11101711110E",
        "H": "1111111F111111",
        "I": "0E04040404040E",
        "J": "0702020202120C",
        "K": "11121418141211",
        "L": "1010101010101F",
        "M": "111B1515111111",
        "N": "11191513111111",
        "O": "0E11111111110E",
        "P": "1E11111E101010",
        "Q": "0E11111115120D",
        "R": "1E11111E141211",
        "S": "0F10100E01011E",
        "T": "1F040404040404",
        "U": "1111111111110E",
        "V": "11111111110A04",
        "W": "11111115151B11",
        "X": "11110A040A1111",
        "Y": "11110A04040404",
        "Z": "1F01020408101F",
        "0": "0E11131519110E",
        "1": "040C040404040E",
        "2": "0E11010608101F",
        "3": "1E01010E01011E",
        "4": "02060A121F0202",
        "5": "1F101E0101110E",
        "6": "0608101E11110E",
        "7": "1F010204080808",
        "8": "0E11110E11110E",
        "9": "0E11110F01020C",
        "'": "04040800000000",
    }.items()
}  # fmt: skip - a table: rows from the top, five bits each, leftmost first


class Canvas:
    """A picture with red strokes and labels; positions in pixels from the top left corner."""

    def __init__(self, pixels: Pixels) -> None:
        """Copy the picture."""
        self.pixels = pixels.copy()
        height, width, _ = pixels.shape
        self._stroke = max(2.0, min(width, height) / 150)
        self._y, self._x = np.ogrid[0:height, 0:width]

    def line(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Draw a segment."""
        (x, y), (to_x, to_y) = start, end
        along_x, along_y = to_x - x, to_y - y
        length = along_x**2 + along_y**2
        share = ((self._x - x) * along_x + (self._y - y) * along_y) / length if length else 0.0
        share = np.clip(share, 0.0, 1.0)
        distance = (self._x - x - share * along_x) ** 2 + (self._y - y - share * along_y) ** 2
        self.pixels[distance <= (self._stroke / 2) ** 2] = RED

    def circle(self, centre: tuple[float, float], radius: float) -> None:
        """Draw the line of a circle."""
        distance = self._distance(centre)
        self.pixels[np.abs(distance - radius) <= self._stroke / 2] = RED

    def point(self, position: tuple[float, float], label: str) -> None:
        """Draw a dot, and its label beside it where there is room."""
        self.pixels[self._distance(position) <= self._stroke * 1.5] = RED
        height, width, _ = self.pixels.shape
        size = max(2, round(min(width, height) / 150))
        label_width, label_height = size * (_GLYPH_WIDTH + 1) * len(label), size * _GLYPH_HEIGHT
        gap = round(self._stroke * 2)
        x, y = round(position[0]) + gap, round(position[1]) - gap - label_height
        x = x if x + label_width <= width else max(0, x - 2 * gap - label_width)
        y = y if y >= 0 else min(height - label_height, y + 2 * gap + label_height)
        for index, letter in enumerate(label):
            self._letter(letter, x + index * size * (_GLYPH_WIDTH + 1), y, size)

    def _letter(self, letter: str, x: int, y: int, size: int) -> None:
        rows = np.frombuffer(_GLYPHS[letter], dtype=np.uint8)
        bits = np.unpackbits(rows[:, None], axis=1)[:, 8 - _GLYPH_WIDTH :].astype(bool)
        mask = np.kron(bits, np.ones((size, size), dtype=bool))
        window = self.pixels[max(0, y) : y + mask.shape[0], x : x + mask.shape[1]]
        window[mask[: window.shape[0], : window.shape[1]]] = RED

    def _distance(self, centre: tuple[float, float]) -> npt.NDArray[np.float64]:
        return np.sqrt((self._x - centre[0]) ** 2 + (self._y - centre[1]) ** 2)


def draw_over(data: bytes, drawing: Drawing) -> bytes:
    """Return a picture as PNG with `drawing` over it in red, its points labelled.

    Raises:
        ValueError: `data` are no picture, a broken one, or a too large one.
    """
    canvas = Canvas(np.asarray(decoded(data), dtype=np.uint8))
    for start, end in drawing.lines:
        canvas.line(start, end)
    for centre, radius in drawing.circles:
        canvas.circle(centre, radius)
    for label, position in drawing.points:
        canvas.point(position, label)
    return png(canvas.pixels)
