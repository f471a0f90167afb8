"""A damaged picture is told, or what is sent of it shows what a decoder shows of it; no third."""

from __future__ import annotations

import re
import struct
import sys
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from files.made_pictures import FORMATS, encoded, exif_of, noise, opened, parts_of, png_chunk
from files.peak_memory import growth
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as Pillow
from PIL import ImageOps

from pytest_llmeval.files.decoder import LONGEST_SIDE
from pytest_llmeval.files.images import ImageFolder, sendable
from pytest_llmeval.files.picture_header import check_picture_file
from pytest_llmeval.records import Image

# Pillow warns of EXIF that it cannot read, here where the tests look at what is sent.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

WHOLE = {
    "PNG": noise("PNG", exif=exif_of(1), dpi=(72, 72)),
    "turned PNG": noise("PNG", exif=exif_of(6)),
    "PNG of a palette": encoded(opened(noise("PNG")).quantize(16), "PNG", transparency=3),
    "JPEG": noise("JPEG", exif=exif_of(1), comment=b"a comment"),
    "turned JPEG": noise("JPEG", exif=exif_of(8)),
    "progressive JPEG": noise("JPEG", progressive=True, icc_profile=b"p" * 200),
    "JPEG of CMYK": encoded(opened(noise("PNG")).convert("CMYK"), "JPEG"),
    "GIF": noise("GIF"),
    "moving GIF": encoded(
        opened(noise("GIF")), "GIF", save_all=True, append_images=[opened(noise("GIF"))]
    ),
    "WEBP": noise("WEBP"),
    "lossless WEBP": noise("WEBP", lossless=True, exif=exif_of(1)),
    "turned WEBP": noise("WEBP", exif=exif_of(3)),
}


def kind_of(name: str) -> str:
    return next(kind for kind in FORMATS if kind in name)


def as_told_or_sent(folder: Path, data: bytes) -> str | bytes:
    """Return what is told of a dataset's picture before anything is paid, or what is sent of it."""
    file = folder / "picture"
    file.write_bytes(data)
    try:
        check_picture_file(str(file))
        return sendable(Image.load(file), ImageFolder(folder / "images").save).read()
    except (OSError, ValueError) as error:
        return str(error)


def shown(data: bytes) -> np.ndarray[tuple[int, ...], np.dtype[np.int16]]:
    """Return what pillow shows of a picture, on white; EXIF that it cannot read turns nothing."""
    picture = opened(data)
    with suppress(SyntaxError, ValueError, struct.error, OSError):
        picture = ImageOps.exif_transpose(picture)
    picture = picture.convert("RGBA")
    paper = Pillow.new("RGBA", picture.size, "white")
    paper.alpha_composite(picture)
    return np.asarray(paper.convert("RGB"), dtype=np.int16)


def check(folder: Path, data: bytes) -> str | bytes:
    found = as_told_or_sent(folder, data)
    if isinstance(found, str):
        assert found
        assert "Traceback" not in found
        assert len(found) < 300
        return found
    told = shown(data)
    if max(told.shape) > LONGEST_SIDE:  # a size that is changed, and scaled for that
        assert max(shown(found).shape) == LONGEST_SIDE
        return found
    assert shown(found).shape == told.shape
    assert np.abs(shown(found) - told).max() <= 1
    return found


@st.composite
def mutations(draw: st.DrawFn) -> tuple[str, str, bytes]:
    """Return a picture's name, a damage's, and the bytes after it."""
    name = draw(st.sampled_from(sorted(WHOLE)))
    data = WHOLE[name]
    parts = parts_of(kind_of(name), data)
    start, end = draw(st.sampled_from(parts))
    at = draw(st.integers(start, end - 1))
    part, before, after = data[start:end], data[:start], data[end:]
    damaged = {
        "cut": lambda: data[:at],
        "flip": lambda: data[:at] + bytes([data[at] ^ draw(st.integers(1, 255))]) + data[at + 1 :],
        "zero": lambda: data[:at] + bytes(end - at) + after,
        "drop": lambda: before + after,
        "twice": lambda: before + part * draw(st.integers(2, 4)) + after,
        "insert": lambda: before + draw(st.binary(min_size=1, max_size=40)) + part + after,
        "length": lambda: before + draw(st.binary(min_size=4, max_size=4)) + part[4:] + after,
        "last": lambda: before + after + part,
    }
    how = draw(st.sampled_from(sorted(damaged)))
    return name, how, damaged[how]()


@settings(max_examples=200, deadline=None)
@given(mutations())
def test_a_damaged_picture_is_told_or_sent_as_it_is_shown(
    tmp_path_factory: pytest.TempPathFactory, mutation: tuple[str, str, bytes]
) -> None:
    name, how, data = mutation
    found = check(tmp_path_factory.getbasetemp(), data)
    if isinstance(found, bytes) and kind_of(name) == "PNG" and how not in {"drop", "last"}:
        # A PNG has sums of all its parts: unless one is gone, it shows what it was.
        assert np.abs(shown(found) - shown(WHOLE[name])).max() == 0


@pytest.mark.parametrize("name", WHOLE)
def test_a_picture_that_ends_early_is_told_wherever_it_ends(tmp_path: Path, name: str) -> None:
    data = WHOLE[name]
    ends = {0, *range(1, len(data) - 1, max(1, len(data) // 40))}
    for start, end in parts_of(kind_of(name), data):
        ends |= {start, start + 1, start + 4, (start + end) // 2, end - 1}
    for end in sorted(ends):
        # A file without its very last byte may still hold all of the picture: it is shown whole.
        if isinstance(found := check(tmp_path, data[: min(end, len(data) - 1)]), bytes):
            assert np.abs(shown(found) - shown(data)).max() == 0


@pytest.mark.parametrize("name", [name for name in WHOLE if "PNG" in name])
def test_a_flipped_bit_in_any_chunk_of_a_png_is_told(tmp_path: Path, name: str) -> None:
    data = WHOLE[name]
    for start, end in parts_of("PNG", data)[1:-1]:
        for at in {start, start + 2, start + 5, (start + end) // 2, end - 1}:
            flipped = data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]
            assert isinstance(as_told_or_sent(tmp_path, flipped), str), (data[start:end][:8], at)


PLAIN = noise("PNG")


def with_chunks(*chunks: tuple[bytes, bytes]) -> bytes:
    """Return a PNG with chunks after its header."""
    return PLAIN[:33] + b"".join(png_chunk(*one) for one in chunks) + PLAIN[33:]


def packed(megabytes: int) -> bytes:
    """Return a thousandth of the bytes, of zeros."""
    packer = zlib.compressobj()
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(megabytes)) + packer.flush()


PACKED = packed(150)

HOSTILE = {
    "a bomb in zTXt": with_chunks((b"zTXt", b"Comment\0\0" + PACKED)),
    "a bomb in iTXt": with_chunks((b"iTXt", b"Comment\0\1\0\0\0" + PACKED)),
    "a bomb in iCCP": with_chunks((b"iCCP", b"profile\0\0" + PACKED)),
    "a hundred bombs in zTXt": with_chunks(*[(b"zTXt", b"C\0\0" + packed(1))] * 100),
    "pixels that go on for ever": PLAIN[:33] + png_chunk(b"IDAT", PACKED) + PLAIN[-12:],
    "EXIF that is none": with_chunks((b"eXIf", b"no EXIF at all")),
    "EXIF that points into itself": with_chunks((b"eXIf", b"II*\0\x08\0\0\0" + b"\xff" * 40)),
    "EXIF of a megabyte": with_chunks((b"eXIf", b"II*\0\x08\0\0\0\xe8\x03" + bytes(1_000_000))),
    "XMP of 2 MB": with_chunks((b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + b"<a" * 1_000_000)),
}


@pytest.mark.parametrize("name", [name for name in HOSTILE if "bomb" in name])
def test_a_bomb_in_metadata_is_told(tmp_path: Path, name: str) -> None:
    told = as_told_or_sent(tmp_path, HOSTILE[name])
    assert isinstance(told, str)
    assert re.search("Decompressed data too large|Too much memory used in text chunks", told)


@pytest.mark.parametrize("name", [name for name in HOSTILE if "EXIF" in name])
def test_exif_that_cannot_be_read_is_not_sent(tmp_path: Path, name: str) -> None:
    found = check(tmp_path, HOSTILE[name])
    assert isinstance(found, bytes)
    assert np.abs(shown(found) - shown(PLAIN)).max() == 0
    assert not opened(found).getexif()


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
@pytest.mark.parametrize("name", HOSTILE)
def test_a_bomb_is_told_or_harmless_and_never_in_this_process(tmp_path: Path, name: str) -> None:
    size = len(HOSTILE[name]) // 1_000
    grown = growth(lambda: as_told_or_sent(tmp_path, HOSTILE[name]))
    assert grown < 20_000 + 5 * size, "kilobytes"
