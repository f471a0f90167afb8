"""Pictures: stored by digest, measured, decoded and scaled down.

Decoding needs pillow, the extra ``vision``.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.files.picture_header import within_limit
from pytest_llmeval.files.pictures import keep
from pytest_llmeval.files.writes import Writes
from pytest_llmeval.records import Image

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

LONGEST_SIDE: Final = 2_048
"""Most pixels of a side of a picture that is sent; providers themselves scale longer ones down."""

_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP")
_PNG_START: Final = b"\x89PNG\r\n\x1a\n"


class ImageFolder:
    """A folder of pictures, each stored once under the sha256 of its bytes."""

    def __init__(self, path: Path | str, writes: Writes | None = None) -> None:
        """Use the folder `path`; saving the first picture creates it.

        `writes` notes pictures that cannot be stored, which ends the run.
        """
        self.path = Path(path)
        self._writes = Writes() if writes is None else writes

    def load(self, path: str) -> Image:
        """Return the picture at `path` as it is sent (see `sendable`).

        Raises:
            TaskError: the file is not a picture, or it is too large.
        """
        try:
            return sendable(Image.load(path), self.save)
        except ValueError as error:
            raise TaskError(str(error), file=path) from error

    def save(self, data: bytes) -> Image:
        """Store the bytes and return the image.

        Raises:
            ValueError: they are not a picture.
            RunStopped: the picture cannot be written.
        """
        with self._writes.to("pictures"):
            return keep(data, self.path)


def picture_size(data: bytes) -> tuple[int, int]:
    """Return width and height in pixels without decoding the picture.

    The size of a PNG is read from its header, so only other formats need pillow.

    Raises:
        ValueError: the data are not a picture, or exceed PIXEL_LIMIT.
    """
    if data.startswith(_PNG_START) and data[12:16] == b"IHDR":
        return within_limit(int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big"))
    with _opened(data) as picture:
        return picture.size


def check_picture(data: bytes) -> None:
    """Raise ValueError if the picture cannot be decoded, or exceeds PIXEL_LIMIT."""
    decoded(data)


def sendable(image: Image, save: Callable[[bytes], Image]) -> Image:
    """Return the picture to send: `image`, or a smaller copy when a side exceeds LONGEST_SIDE.

    The copy's longer side is LONGEST_SIDE, the other keeps the proportion (at least 1 pixel); it is
    resampled by Lanczos and stored as PNG. Its digest is that of the copy's bytes, so that a
    request is identified by what is sent.

    Args:
        image: the picture.
        save: stores the copy's bytes and returns its image.

    Raises:
        ValueError: the data are not a picture, or exceed PIXEL_LIMIT.
    """
    data = image.read()
    width, height = picture_size(data)
    if max(width, height) <= LONGEST_SIDE:
        return image
    picture = decoded(data)
    ratio = LONGEST_SIDE / max(width, height)
    size = max(1, round(width * ratio)), max(1, round(height * ratio))
    stream = io.BytesIO()
    picture.resize(size, _pillow().Resampling.LANCZOS).save(stream, "PNG")
    return save(stream.getvalue())


def decoded(data: bytes) -> Picture:
    """Return the picture in RGB, with white in place of transparent pixels.

    Raises:
        ValueError: the data are not a picture, are damaged, or exceed PIXEL_LIMIT.
    """
    with _opened(data) as picture:
        try:
            layered = picture.convert("RGBA")
        except (OSError, SyntaxError, ValueError, EOFError, IndexError, OverflowError) as error:
            msg = f"a damaged picture: {error}"
            raise ValueError(msg) from error
    paper = _pillow().new("RGBA", layered.size, "white")
    paper.alpha_composite(layered)
    flat: Picture = paper.convert("RGB")
    return flat


def _opened(data: bytes) -> Picture:
    """Return the picture without decoding its pixels; ValueError if it is invalid or too large."""
    pillow = _pillow()
    with warnings.catch_warnings():
        # Pillow's own limit is a global setting that warns or raises; PIXEL_LIMIT replaces it.
        warnings.simplefilter("ignore")
        try:
            picture: Picture = pillow.open(io.BytesIO(data), formats=_FORMATS)
        except (OSError, SyntaxError, ValueError, pillow.DecompressionBombError) as error:
            msg = f"not a PNG, JPEG, GIF or WebP picture, or a damaged one: {error}"
            raise ValueError(msg) from error
    within_limit(*picture.size)
    return picture


def _pillow() -> ModuleType:
    try:
        from PIL import Image as pillow  # noqa: N813, PLC0415 - an optional extra
    except ImportError:
        msg = (
            "pictures are decoded by pillow, which is not installed: "
            "pip install 'pytest-llmeval-suite[vision]'"
        )
        raise UsageError(msg) from None
    return pillow
