"""Pictures: kept by digest, measured, scaled down for sending, and drawn over (pillow, the extra ``vision``)."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from pytest_llmeval.domains.geometry3k.drawing import Drawing
from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.files.pictures import keep
from pytest_llmeval.records import Image

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

PIXEL_LIMIT: Final = 50_000_000
"""Pixels of a picture that are ever decoded (150 MB as RGB): a small file can claim far more."""

LONGEST_SIDE: Final = 2_048
"""Pixels; a longer picture is scaled down to this before it is sent.

Large models' providers do the same.
"""

_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP")
_PNG_START: Final = b"\x89PNG\r\n\x1a\n"


class ImageFolder:
    """Pictures in a folder, each once, under the sha256 of its bytes: an ImageStore."""

    def __init__(self, path: Path | str) -> None:
        """Take the folder; it is made with the first picture."""
        self.path = Path(path)

    def load(self, path: str) -> Image:
        """Return the picture at `path` as it is sent (see `sendable`); TaskError when it is none or too large."""
        try:
            return sendable(Image.load(path), self.save)
        except ValueError as error:
            raise TaskError(str(error), file=path) from error

    def save(self, data: bytes) -> Image:
        """Store the bytes and return the image; ValueError when their first bytes show no picture."""
        return keep(data, self.path)


def picture_size(data: bytes) -> tuple[int, int]:
    """Return width and height in pixels without decoding; ValueError when no picture, or over PIXEL_LIMIT.

    A PNG tells its size in its first bytes, so pillow is needed for other formats only.
    """
    if data.startswith(_PNG_START) and data[12:16] == b"IHDR":
        return _within_limit(int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big"))
    with _opened(data) as picture:
        return picture.size


def check_picture(data: bytes) -> None:
    """Decode the whole picture once; ValueError when that fails, or when it is over PIXEL_LIMIT."""
    _decoded(data)


def sendable(image: Image, save: Callable[[bytes], Image]) -> Image:
    """Return the picture to send: `image` itself, or when a side is too long a smaller copy that `save` keeps.

    The rule: the longer side becomes LONGEST_SIDE, the other keeps the proportion (at least 1
    pixel), resampled by Lanczos, as PNG. What is returned carries the digest of its own bytes, so
    the request is known by what was sent.
    """
    data = image.read()
    width, height = picture_size(data)
    if max(width, height) <= LONGEST_SIDE:
        return image
    picture = _decoded(data)
    ratio = LONGEST_SIDE / max(width, height)
    size = max(1, round(width * ratio)), max(1, round(height * ratio))
    stream = io.BytesIO()
    picture.resize(size, _pillow().Resampling.LANCZOS).save(stream, "PNG")
    return save(stream.getvalue())


def draw_over(data: bytes, drawing: Drawing) -> bytes:
    """Return the picture as PNG with `drawing` over it in red, its points labelled; ValueError when `data` is none."""
    import numpy as np  # noqa: PLC0415 - heavy, and only drawing needs it

    from pytest_llmeval.domains.geometry3k.canvas import Canvas, png  # noqa: PLC0415 - loads numpy

    canvas = Canvas(np.asarray(_decoded(data), dtype=np.uint8))
    for start, end in drawing.lines:
        canvas.line(start, end)
    for centre, radius in drawing.circles:
        canvas.circle(centre, radius)
    for label, position in drawing.points:
        canvas.point(position, label)
    return png(canvas.pixels)


def _decoded(data: bytes) -> Picture:
    """Return the picture in RGB, what is transparent as white."""
    with _opened(data) as picture:
        try:
            layered = picture.convert("RGBA")
        except (OSError, SyntaxError, ValueError, EOFError, IndexError, OverflowError) as error:
            msg = f"a broken picture: {error}"
            raise ValueError(msg) from error
    paper = _pillow().new("RGBA", layered.size, "white")
    paper.alpha_composite(layered)
    flat: Picture = paper.convert("RGB")
    return flat


def _opened(data: bytes) -> Picture:
    """Return the picture with its pixels not yet decoded; ValueError when it is none, or over PIXEL_LIMIT."""
    pillow = _pillow()
    with warnings.catch_warnings():
        # Pillow's own limits on size warn or raise by global settings; ours below is the one that
        # counts.
        warnings.simplefilter("ignore")
        try:
            picture: Picture = pillow.open(io.BytesIO(data), formats=_FORMATS)
        except (OSError, SyntaxError, ValueError, pillow.DecompressionBombError) as error:
            msg = f"no picture in PNG, JPEG, GIF or WebP, or a broken one: {error}"
            raise ValueError(msg) from error
    _within_limit(*picture.size)
    return picture


def _within_limit(width: int, height: int) -> tuple[int, int]:
    if not 0 < width * height <= PIXEL_LIMIT:
        msg = f"a picture of {width} x {height} pixels is refused; at most {PIXEL_LIMIT:,} pixels are decoded"
        raise ValueError(msg)
    return width, height


def _pillow() -> ModuleType:
    try:
        from PIL import Image as pillow  # noqa: N813, PLC0415 - an extra; the name Image is our record's
    except ImportError:
        msg = "pictures are decoded by pillow, which is not installed: pip install 'pytest-llmeval-suite[vision]'"
        raise UsageError(msg) from None
    return pillow
