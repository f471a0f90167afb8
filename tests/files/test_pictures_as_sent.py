"""What is sent shows what a viewer shows, in a form that every provider takes."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from files.made_pictures import corners, deep_png, encoded, exif_of, noise, opened, png_chunk
from PIL import Image as Pillow
from PIL import ImageColor, ImageOps

from pytest_llmeval.files.decoder import LONGEST_SIDE
from pytest_llmeval.files.images import ImageFolder, decoded, sendable
from pytest_llmeval.records import Image

QUARTERS = ["red", "lime", "blue", "yellow"]
TURNED = {
    1: ["red", "lime", "blue", "yellow"],
    2: ["lime", "red", "yellow", "blue"],
    3: ["blue", "yellow", "red", "lime"],
    4: ["yellow", "blue", "lime", "red"],
    5: ["red", "yellow", "blue", "lime"],
    6: ["yellow", "red", "lime", "blue"],
    7: ["blue", "lime", "red", "yellow"],
    8: ["lime", "blue", "yellow", "red"],
}
"""The quarters of `corners`, clockwise from the top left, by EXIF's orientation."""


@pytest.fixture
def folder(tmp_path: Path) -> ImageFolder:
    return ImageFolder(tmp_path / "images")


def sent(folder: ImageFolder, data: bytes) -> bytes:
    """Return the bytes that are sent for a picture."""
    return sendable(folder.save(data), folder.save).read()


def pixels(picture: Pillow.Image) -> npt.NDArray[np.int16]:
    return np.asarray(picture.convert("RGB"), dtype=np.int16)


def quarters(picture: Pillow.Image) -> list[str]:
    """Return the colours of the quarters' middles, clockwise from the top left."""
    width, height = picture.size
    places = [(1, 1), (3, 1), (3, 3), (1, 3)]
    array = pixels(picture)
    seen = [array[height * y // 4, width * x // 4] for x, y in places]
    colours = {name: ImageColor.getrgb(name) for name in QUARTERS}
    return [
        min(QUARTERS, key=lambda name: int(np.abs(np.subtract(colours[name], one)).sum()))
        for one in seen
    ]


@pytest.mark.parametrize("orientation", TURNED)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_exif_turns_a_picture(folder: ImageFolder, kind: str, orientation: int) -> None:
    data = encoded(corners(), kind, exif=exif_of(orientation))
    picture = opened(sent(folder, data))
    assert picture.size == ((48, 32) if orientation < 5 else (32, 48))
    assert quarters(picture.convert("RGB")) == TURNED[orientation]
    assert ImageOps.exif_transpose(picture).size == picture.size, "it would be turned again"
    raster = decoded(data)
    assert (raster.width, raster.height) == picture.size
    assert np.abs(np.asarray(raster, dtype=np.int16) - pixels(picture)).max() == 0


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA"])
def test_what_every_provider_takes_is_sent_byte_for_byte(
    folder: ImageFolder, kind: str, mode: str
) -> None:
    if (kind, mode) in {("JPEG", "P"), ("JPEG", "RGBA")}:
        return
    data = encoded(corners().convert(mode), kind)
    image = folder.save(data)
    assert sendable(image, folder.save) is image


class TestSixteenBits:
    def test_each_value_of_grey_becomes_the_nearest_of_eight_bits(
        self, folder: ImageFolder
    ) -> None:
        data = deep_png(256, 256, 0, list(range(1 << 16)))
        picture = opened(sent(folder, data))
        exact = np.rint(np.arange(1 << 16) / 257).reshape(256, 256)
        assert np.abs(pixels(picture)[:, :, 0] - exact).max() == 0

    @pytest.mark.parametrize(("colour", "channels"), [(2, 3), (6, 4), (4, 2)])
    def test_colours_are_within_one_of_the_exact_value(
        self, folder: ImageFolder, colour: int, channels: int
    ) -> None:
        values = np.linspace(0, 65535, 64 * 32).astype(int).repeat(channels)
        if channels in {2, 4}:
            values[channels - 1 :: channels] = 65535
        data = deep_png(64, 32, colour, values.tolist())
        replaced = sent(folder, data)
        assert replaced[24] == 8, "bits of a sample"
        exact = values[::channels].reshape(32, 64) / 257
        assert np.abs(pixels(opened(replaced))[:, :, 0] - exact).max() <= 1

    def test_the_grey_that_is_transparent_becomes_white(self, folder: ImageFolder) -> None:
        clear = png_chunk(b"tRNS", (300).to_bytes(2, "big"))
        data = deep_png(4, 1, 0, [0, 300, 301, 65535], clear)
        assert pixels(opened(sent(folder, data)))[0, :, 0].tolist() == [0, 255, 1, 255]


class TestInks:
    @pytest.mark.parametrize(
        ("inks", "seen"),
        [
            ((0, 0, 0, 0), "white"),
            ((255, 0, 0, 0), "cyan"),
            ((0, 255, 0, 0), "magenta"),
            ((0, 0, 255, 0), "yellow"),
            ((0, 0, 0, 255), "black"),
            ((0, 255, 255, 0), "red"),
            ((0, 0, 0, 128), (127, 127, 127)),
        ],
    )
    def test_cmyk_becomes_the_colours_that_the_inks_show(
        self, folder: ImageFolder, inks: tuple[int, ...], seen: str | tuple[int, ...]
    ) -> None:
        data = encoded(Pillow.new("CMYK", (16, 16), inks), "JPEG", quality=95)
        picture = opened(sent(folder, data))
        assert (picture.mode, picture.format) == ("RGB", "PNG")
        assert np.abs(pixels(picture) - pixels(Pillow.new("RGB", (16, 16), seen))).max() <= 3


class TestAnimations:
    @pytest.mark.parametrize("kind", ["GIF", "WEBP"])
    def test_the_first_frame_of_an_animation_is_sent(self, folder: ImageFolder, kind: str) -> None:
        frames = [Pillow.new("RGB", (20, 10), name) for name in ("red", "lime", "blue")]
        stream = io.BytesIO()
        frames[0].save(stream, kind, save_all=True, append_images=frames[1:], lossless=True)
        picture = opened(sent(folder, stream.getvalue()))
        assert (picture.format, getattr(picture, "n_frames", 1)) == ("PNG", 1)
        assert np.abs(pixels(picture) - pixels(frames[0])).max() == 0

    def test_a_moving_png_is_a_png_that_stands_still_to_others(self, folder: ImageFolder) -> None:
        frames = [Pillow.new("RGB", (20, 10), name) for name in ("red", "lime")]
        data = encoded(frames[0], "PNG", save_all=True, append_images=frames[1:])
        assert sent(folder, data) == data


class TestMetadata:
    def test_a_copy_has_no_metadata(self, folder: ImageFolder) -> None:
        data = encoded(corners(), "JPEG", exif=exif_of(6), icc_profile=b"x" * 300, comment=b"me")
        assert opened(sent(folder, data)).info == {}

    @pytest.mark.parametrize("orientation", [0, 9, 65535])
    def test_an_orientation_that_there_is_not_turns_nothing(
        self, folder: ImageFolder, orientation: int
    ) -> None:
        data = encoded(corners(), "JPEG", exif=exif_of(orientation))
        assert sent(folder, data) == data

    def test_exif_of_megabytes_changes_nothing(self, folder: ImageFolder) -> None:
        exif = exif_of(1)
        exif[0x927C] = bytes(4_000_000)
        data = encoded(corners(), "PNG", exif=exif)
        assert sent(folder, data) == data


def test_a_large_picture_is_turned_and_scaled(folder: ImageFolder) -> None:
    data = encoded(corners(3_000, 1_500), "JPEG", exif=exif_of(6))
    picture = opened(sent(folder, data))
    assert picture.size == (LONGEST_SIDE // 2, LONGEST_SIDE)
    assert quarters(picture) == TURNED[6]


@pytest.mark.parametrize(("alpha", "seen"), [(0, 255), (255, 10), (128, 132)])
def test_what_is_transparent_in_a_copy_is_on_white(
    folder: ImageFolder, alpha: int, seen: int
) -> None:
    data = encoded(Pillow.new("RGBA", (2_100, 3), (10, 10, 10, alpha)), "PNG")
    assert np.abs(pixels(opened(sent(folder, data))) - seen).max() <= 1


def test_a_picture_is_sent_by_the_digest_of_what_is_sent(folder: ImageFolder) -> None:
    image = sendable(folder.save(noise("JPEG", exif=exif_of(3))), folder.save)
    assert image == Image.load(image.path)
