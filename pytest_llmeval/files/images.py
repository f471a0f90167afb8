"""Pictures: stored by digest, decoded, and made ready to be sent.

Decoding needs pillow, the extra ``vision``, and happens in a child (see `decoder`). The functions
wait for it: in an event loop call them by ``asyncio.to_thread``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from pytest_llmeval.errors import TaskError
from pytest_llmeval.files.decoder import LONGEST_SIDE, can_decode, decode
from pytest_llmeval.files.picture_header import picture_size
from pytest_llmeval.files.pictures import keep
from pytest_llmeval.files.writes import Writes
from pytest_llmeval.records import Image

__all__ = [
    "ImageFolder",
    "Raster",
    "check_picture",
    "decoded",
    "picture_size",
    "sendable",
    "small_version",
]

_NONE_PREPARED: Final[Mapping[str, Image]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Raster:
    """The pixels of a picture, in RGB; ``numpy.asarray`` makes an array (height, width, 3) of them.

    Attributes:
        width: in pixels.
        height: in pixels.
        data: three bytes for each pixel, row by row from the top left.
    """

    width: int
    height: int
    data: bytes

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """What numpy reads."""
        shape = (self.height, self.width, 3)
        return {"version": 3, "typestr": "|u1", "shape": shape, "data": self.data}


class ImageFolder:
    """A folder of pictures, each stored once under the sha256 of its bytes."""

    def __init__(
        self,
        path: Path | str,
        writes: Writes | None = None,
        prepared: Mapping[str, Image] = _NONE_PREPARED,
    ) -> None:
        """Use the folder `path`; saving the first picture creates it.

        Args:
            path: the folder.
            writes: notes pictures that cannot be stored, which ends the run.
            prepared: by path, a dataset's pictures as they are sent.
        """
        self.path = Path(path)
        self._writes = Writes() if writes is None else writes
        self._prepared = prepared

    def load(self, path: str) -> Image:
        """Return the picture at `path` as it is sent (see `sendable`).

        What is sent in its place is kept in this folder.

        Raises:
            TaskError: the file is not a picture, or it is too large.
        """
        try:
            if (prepared := self._prepared.get(path)) is None:
                return sendable(Image.load(path), self.save)
            return prepared if prepared.path == path else self.save(prepared.read())
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


def check_picture(data: bytes) -> None:
    """Raise ValueError if the picture cannot be decoded, or exceeds PIXEL_LIMIT."""
    _replacement(data)


def sendable(image: Image, save: Callable[[bytes], Image]) -> Image:
    """Return the picture to send: `image`, or a copy that every model sees as a viewer shows it.

    A copy is made of a picture that EXIF turns, that has CMYK colours or 16 bits a sample, that
    moves (its first frame), or of which a side exceeds LONGEST_SIDE: its longer side is
    LONGEST_SIDE then, the other keeps the proportion (at least 1 pixel), resampled by Lanczos. The
    copy is a PNG in RGB with 8 bits, on white, without metadata. Its digest is that of its bytes,
    so that a request is identified by what is sent.

    Without pillow a picture is sent undecoded, unless it is too large.

    Args:
        image: the picture.
        save: stores the copy's bytes and returns its image.

    Raises:
        ValueError: the data are not a picture, are damaged, or exceed PIXEL_LIMIT.
        UsageError: the picture must be scaled, and pillow is not installed.
    """
    data = image.read()
    if not can_decode() and max(picture_size(data)) <= LONGEST_SIDE:
        return image
    replacement = _replacement(data)
    return save(replacement) if replacement else image


def decoded(data: bytes) -> Raster:
    """Return the pixels of a picture as a viewer shows them, with white where it is transparent.

    Raises:
        ValueError: the data are not a picture, are damaged, or exceed PIXEL_LIMIT.
    """
    picture_size(data)
    answer, content = decode("pixels", data)
    width, height = answer["size"]
    return Raster(width, height, content)


def small_version(data: bytes) -> bytes:
    """Return a small version of a picture, a WebP.

    Raises:
        ValueError: the data are not a picture, are damaged, or exceed PIXEL_LIMIT.
        UsageError: pillow is not installed.
    """
    picture_size(data)
    return decode("small", data)[1]


def _replacement(data: bytes) -> bytes:
    """Return the PNG to send in place of a picture; nothing if the picture itself is sent."""
    width, height = picture_size(data)
    answer, replacement = decode("sent", data)
    found_width, found_height = answer["size"]
    if (width, height) != (found_width, found_height):
        msg = (
            f"a damaged picture: its header says {width} x {height} pixels, "
            f"and it has {found_width} x {found_height}"
        )
        raise ValueError(msg)
    return replacement
