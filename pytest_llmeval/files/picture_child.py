"""The child process that decodes pictures; see `decoder`. It alone imports pillow.

A request (see `child_pool`) is a line, ``sent``, ``pixels`` or ``small``, and the bytes of a
picture. The reply is a line of JSON and bytes: ``{"problem": text}`` for a picture that cannot be
decoded; for ``sent`` ``{"size": [width, height]}`` as it is stored, and the PNG to send in its
place, empty if it is sent as it is; for ``pixels`` the size as it is seen, and its rows in RGB; for
``small`` a WebP of at most SMALL_SIDE pixels a side.

The process knows no file and no network once it is ready: what a picture makes of a decoder with a
hole can change what is seen of pictures, and nothing else.
"""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
from contextlib import suppress
from typing import BinaryIO, Final, NamedTuple

from PIL import ExifTags, Image
from PIL.GifImagePlugin import GifImageFile
from PIL.ImageFile import ImageFile
from PIL.JpegImagePlugin import jpeg_factory
from PIL.MpoImagePlugin import MpoImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.WebPImagePlugin import WebPImageFile

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

_KINDS: Final = {
    b"\x89PNG": PngImageFile,
    b"\xff\xd8\xff": jpeg_factory,
    b"GIF8": GifImageFile,
    b"RIFF": WebPImageFile,
}
"""How a picture is opened, by its first bytes."""

_TURNS: Final = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""What makes a picture upright, by EXIF's orientation."""

_STRIP: Final = 1 << 20
"""Pixels that are put on white at a time."""

_ROUNDED: Final = [(value + 128) // 257 for value in range(1 << 16)]
"""Each value of 16 bits in 8 bits."""

SMALL_SIDE: Final = 160
"""Most pixels of a side of a small version: twice what a table shows of it."""

_SMALL_QUALITY: Final = 70
_PNG_DEPTH: Final = 24
"""Where a PNG says how many bits a sample has."""


class Bounds(NamedTuple):
    """The limits of the process.

    Attributes:
        memory_mb: megabytes of address space; macOS does not hold it.
        cpu_seconds: processor time of one picture.
        pixels: pixels of a picture at most.
        side: most pixels of a side of a picture that is sent.
    """

    memory_mb: int
    cpu_seconds: int
    pixels: int
    side: int


def main(bounds: Bounds) -> None:
    """Answer requests until standard input ends."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    # Pillow's own limit, beyond whose double it raises an error: before it reserves any memory.
    Image.MAX_IMAGE_PIXELS = bounds.pixels // 2
    _warm_up(bounds)
    seal(bounds)
    _write(replies, b"")
    while (request := _request(sys.stdin.buffer)) is not None:
        _limit_time(bounds.cpu_seconds)
        answer, content = _answer(*request, bounds)
        _write(replies, json.dumps(answer).encode() + b"\n" + content)
        del request, content  # before the next picture needs the memory


def seal(bounds: Bounds) -> None:
    """Limit this process, and give up what it does not need, as far as the system lets it."""
    if sys.platform == "linux":
        from pytest_llmeval.sandbox import (  # noqa: PLC0415 - there is none elsewhere
            kernel,
            landlock,
            system_calls,
        )

        with suppress(OSError):
            kernel.process_control(kernel.PR_SET_NO_NEW_PRIVS, 1)
            landlock.give_up_files()
        with suppress(OSError):
            system_calls.refuse_system_calls()
    if resource is not None:
        # No further file or socket, whatever the kernel knows of the above.
        for which in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
            resource.setrlimit(which, (0, 0))
        if sys.platform == "linux":  # macOS knows the limit and does not hold it
            size = bounds.memory_mb << 20
            resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _answer(want: bytes, data: bytes, bounds: Bounds) -> tuple[dict[str, object], bytes]:
    try:
        picture = _decoded(data, bounds.pixels)
        if want == b"pixels":
            upright = _upright(_on_white(_eight_bits(picture)), _orientation(picture))
            return {"size": upright.size}, upright.tobytes()
        if want == b"small":
            return {"size": picture.size}, _small(picture)
        return {"size": picture.size}, _sent(picture, data, bounds.side)
    except MemoryError:
        return {"problem": f"it takes more than {bounds.memory_mb:,} MB of memory to decode"}, b""
    except Exception as error:  # noqa: BLE001 - decoders raise what they like
        return {"problem": f"a damaged picture: {error or type(error).__name__}"}, b""


def _decoded(data: bytes, most: int) -> ImageFile:
    """Return a picture whose first frame is decoded."""
    opener = next(opener for start, opener in _KINDS.items() if data.startswith(start))
    picture = opener(io.BytesIO(data))
    if isinstance(picture, PngImageFile):
        picture.verify()  # the sums of all chunks, which decoding passes over
        picture = PngImageFile(io.BytesIO(data))
        if picture.mode == "P" and picture.palette is None:
            msg = "it has no palette"
            raise ValueError(msg)
    if picture.width * picture.height > most:
        msg = f"it has {picture.width} x {picture.height} pixels"
        raise ValueError(msg)
    picture.load()
    return picture


def _sent(picture: ImageFile, data: bytes, side: int) -> bytes:
    """Return the PNG to send in place of a picture; nothing if the picture itself is sent."""
    orientation = _orientation(picture)
    if (
        max(picture.size) <= side
        and orientation == 1
        and picture.mode != "CMYK"
        and not _is_deep(picture, data)
        and not _is_animated(picture)
    ):
        return b""
    flat = _on_white(_eight_bits(picture))
    if (longest := max(flat.size)) > side:
        size = tuple(max(1, round(length * side / longest)) for length in flat.size)
        flat = flat.resize((size[0], size[1]), Image.Resampling.LANCZOS)
    flat.info.clear()  # a profile of colours would be written too
    stream = io.BytesIO()
    _upright(flat, orientation).save(stream, "PNG")
    return stream.getvalue()


def _small(picture: ImageFile) -> bytes:
    """Return a small version of a picture, upright and on white."""
    flat = _upright(_on_white(_eight_bits(picture)), _orientation(picture))
    flat.thumbnail((SMALL_SIDE, SMALL_SIDE))
    flat.info.clear()
    stream = io.BytesIO()
    flat.save(stream, "WEBP", quality=_SMALL_QUALITY)
    return stream.getvalue()


def _is_deep(picture: ImageFile, data: bytes) -> bool:
    """Return whether a picture has 16 bits a sample."""
    return isinstance(picture, PngImageFile) and data[_PNG_DEPTH] > 8  # noqa: PLR2004 - bits


def _is_animated(picture: ImageFile) -> bool:
    """Return whether a viewer moves a GIF or WebP; a PNG's first frame is a PNG by itself."""
    still = isinstance(picture, PngImageFile | MpoImageFile)
    return not still and getattr(picture, "is_animated", False)


def _orientation(picture: ImageFile) -> int:
    """Return EXIF's orientation, 1 to 8; 1 for none, and 0 for EXIF that cannot be read."""
    try:
        found = picture.getexif().get(ExifTags.Base.Orientation, 1)
    except Exception:  # noqa: BLE001 - EXIF is as hostile as the rest
        return 0
    return found if found in _TURNS else 1


def _upright(picture: Image.Image, orientation: int) -> Image.Image:
    turn = _TURNS.get(orientation)
    return picture if turn is None else picture.transpose(turn)


def _eight_bits(picture: Image.Image) -> Image.Image:
    """Return a picture with 8 bits a sample.

    Pillow itself leaves 16 bits to grey pictures only, and of colours the higher 8 bits.
    """
    if not picture.mode.startswith("I"):
        return picture
    deep = picture.convert("I")
    grey = deep.point(_ROUNDED, "L")
    clear = picture.info.get("transparency")
    if isinstance(clear, int):
        opaque = [255 * (value != clear) for value in range(1 << 16)]
        grey = Image.merge("LA", (grey, deep.point(opaque, "L")))
    return grey


def _on_white(picture: Image.Image) -> Image.Image:
    """Return a picture in RGB, with white where it is transparent."""
    if not picture.has_transparency_data:
        return picture.convert("RGB")
    flat = Image.new("RGB", picture.size)
    rows = max(1, _STRIP // picture.width)
    for top in range(0, picture.height, rows):
        box = (0, top, picture.width, min(top + rows, picture.height))
        strip = picture.crop(box).convert("RGBA")
        paper = Image.new("RGBA", strip.size, "white")
        paper.alpha_composite(strip)
        flat.paste(paper.convert("RGB"), box)
    return flat


def _warm_up(bounds: Bounds) -> None:
    """Decode a picture of each kind, so that all is imported before files are given up."""
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    for kind in ("PNG", "JPEG", "GIF", "WEBP"):
        stream = io.BytesIO()
        Image.new("RGB", (1, 1)).save(stream, kind, exif=exif)
        _answer(b"sent", stream.getvalue(), bounds)
        _answer(b"small", stream.getvalue(), bounds)


def _limit_time(seconds: int) -> None:
    """Let the kernel end this process after `seconds` more of processor time."""
    if resource is not None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        end = int(used.ru_utime + used.ru_stime) + seconds + 1
        resource.setrlimit(resource.RLIMIT_CPU, (end, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _request(stream: BinaryIO) -> tuple[bytes, bytes] | None:
    """Return what is wanted and the picture's bytes; None when standard input has ended."""
    head = stream.read(8)
    if len(head) < 8:  # noqa: PLR2004 - the length of a frame
        return None
    want = stream.readline()
    return want.strip(), stream.read(int.from_bytes(head, "big") - len(want))


def _write(stream: BinaryIO, frame: bytes) -> None:
    stream.write(len(frame).to_bytes(8, "big"))
    stream.write(frame)
    stream.flush()


if __name__ == "__main__":
    main(Bounds(*map(int, sys.argv[1:])))
