"""Pictures are kept once, refused when they are bombs, and scaled by rule."""

from __future__ import annotations

import hashlib
import io
import struct
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from PIL import Image as Pillow

from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.files.decoder import LONGEST_SIDE
from pytest_llmeval.files.images import (
    ImageFolder,
    check_picture,
    picture_size,
    sendable,
)
from pytest_llmeval.files.picture_header import PIXEL_LIMIT
from pytest_llmeval.records import Image

DIAGRAM = Path(__file__).parents[2] / "fixtures/geometry3k/images/015_chord_distance.png"
FORMATS = ["PNG", "JPEG", "GIF", "WEBP"]


def picture(
    width: int,
    height: int,
    *,
    kind: str = "PNG",
    mode: str = "RGB",
    colour: float | tuple[float, ...] | str = "white",
) -> bytes:
    """Return a picture of one colour."""
    stream = io.BytesIO()
    Pillow.new(mode, (width, height), colour).save(stream, kind)
    return stream.getvalue()


def bomb(width: int, height: int) -> bytes:
    """Return a PNG of few bytes that claims to be this large."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(99)))
        + chunk(b"IEND", b"")
    )


class TestImageFolder:
    def test_a_picture_is_kept_under_its_digest(self, tmp_path: Path) -> None:
        data = picture(3, 2)
        image = ImageFolder(tmp_path / "images").save(data)
        assert image.digest == hashlib.sha256(data).hexdigest()
        assert Path(image.path) == tmp_path / "images" / f"{image.digest}.png"
        assert image == Image.load(image.path)

    def test_the_same_picture_is_kept_once(self, tmp_path: Path) -> None:
        folder = ImageFolder(tmp_path)
        assert folder.save(picture(3, 2)) == folder.save(picture(3, 2))
        assert len(list(tmp_path.iterdir())) == 1

    def test_two_threads_save_the_same_picture_at_a_time(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        both_have_written = Barrier(2)
        write = Path.write_bytes

        def write_and_wait(path: Path, data: bytes) -> int:
            written = write(path, data)
            both_have_written.wait(30)
            return written

        monkeypatch.setattr(Path, "write_bytes", write_and_wait)
        with ThreadPoolExecutor(2) as threads:
            one, other = threads.map(ImageFolder(tmp_path).save, [picture(3, 2)] * 2)
        assert one == other
        assert [file.name for file in tmp_path.iterdir()] == [f"{one.digest}.png"]

    @pytest.mark.parametrize(
        ("kind", "suffix"), [("PNG", ".png"), ("JPEG", ".jpg"), ("GIF", ".gif"), ("WEBP", ".webp")]
    )
    def test_the_suffix_tells_the_format(self, kind: str, suffix: str, tmp_path: Path) -> None:
        assert Path(ImageFolder(tmp_path).save(picture(3, 2, kind=kind)).path).suffix == suffix

    def test_a_datasets_picture_is_loaded_where_it_lies_or_scaled_into_the_folder(
        self, tmp_path: Path
    ) -> None:
        small, large = tmp_path / "small.png", tmp_path / "large.png"
        small.write_bytes(picture(30, 20))
        large.write_bytes(picture(4_096, 20))
        folder = ImageFolder(tmp_path / "images")
        assert folder.load(str(small)) == Image.load(small)
        assert Path(folder.load(str(large)).path).parent == folder.path

    def test_a_datasets_bomb_is_told_with_its_file(self, tmp_path: Path) -> None:
        file = tmp_path / "bomb.png"
        file.write_bytes(bomb(60_000, 60_000))
        with pytest.raises(
            TaskError, match=r"bomb\.png: a picture of 60000 x 60000 pixels is refused"
        ):
            ImageFolder(tmp_path).load(str(file))

    @pytest.mark.parametrize("data", [b"", b"<svg/>", b"%PDF-1.7", b"RIFF0000WAVE"])
    def test_what_is_no_picture_is_refused_and_leaves_nothing(
        self, data: bytes, tmp_path: Path
    ) -> None:
        with pytest.raises(ValueError, match="not a PNG, JPEG, GIF or WebP image"):
            ImageFolder(tmp_path).save(data)
        assert list(tmp_path.iterdir()) == []


class TestSize:
    @pytest.mark.parametrize("kind", FORMATS)
    def test_width_comes_before_height(self, kind: str) -> None:
        assert picture_size(picture(30, 20, kind=kind)) == (30, 20)

    @pytest.mark.parametrize(
        "size", [(60_000, 60_000), (2**31 - 1, 2**31 - 1), (PIXEL_LIMIT + 1, 1), (0, 10)]
    )
    def test_a_decompression_bomb_is_refused_unopened(self, size: tuple[int, int]) -> None:
        for refuse in (picture_size, check_picture):
            with pytest.raises(ValueError, match=r"refused|damaged"):
                refuse(bomb(*size))

    @pytest.mark.parametrize("kind", FORMATS)
    def test_a_truncated_picture_is_found_damaged(self, kind: str) -> None:
        data = picture(300, 200, kind=kind)
        with pytest.raises(ValueError, match="damaged"):
            check_picture(data[: len(data) * 2 // 3])

    @pytest.mark.parametrize(
        "data", [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"GIF89a", b"RIFF0000WEBP"]
    )
    def test_a_mere_signature_is_no_picture(self, data: bytes) -> None:
        for refuse in (picture_size, check_picture):
            with pytest.raises(ValueError, match=r"not a PNG|damaged: its header holds no size"):
                refuse(data)


class TestSendable:
    def test_a_picture_within_the_limit_is_sent_as_it_is(self, tmp_path: Path) -> None:
        folder = ImageFolder(tmp_path)
        image = folder.save(picture(LONGEST_SIDE, 10))
        assert sendable(image, folder.save) is image

    @pytest.mark.parametrize(
        ("size", "sent"),
        [
            ((4_096, 1_024), (2_048, 512)),
            ((1_000, 3_000), (683, 2_048)),
            ((2_049, 2_049), (2_048, 2_048)),
            ((9_000, 1), (2_048, 1)),
        ],
    )
    def test_a_longer_side_is_scaled_to_the_limit(
        self, size: tuple[int, int], sent: tuple[int, int], tmp_path: Path
    ) -> None:
        folder = ImageFolder(tmp_path)
        image = sendable(folder.save(picture(*size)), folder.save)
        assert picture_size(image.read()) == sent
        assert image.digest == hashlib.sha256(image.read()).hexdigest()


class TestWithoutPillow:
    @pytest.fixture(autouse=True)
    def _no_pillow(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "PIL", None)

    def test_the_error_says_what_to_install(self) -> None:
        with pytest.raises(UsageError, match=r"pip install 'pytest-llmeval-suite\[vision\]'"):
            check_picture(DIAGRAM.read_bytes())

    def test_a_png_of_ordinary_size_is_sent_all_the_same(self, tmp_path: Path) -> None:
        image = Image.load(DIAGRAM)
        assert sendable(image, ImageFolder(tmp_path).save) is image
