"""Each picture is decoded once, in whichever session; what was decoded is known by its bytes."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from files.made_pictures import corners, encoded, exif_of, noise, opened

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files import decoder, images
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.files.prepared import prepare_pictures
from pytest_llmeval.records import Image


class Prepared:
    """Prepares pictures in a folder, and counts those that are decoded."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let the cache lie in `folder`."""
        self.folder, self.cache = folder, folder / "cache" / "pytest-llmeval"
        self.decoded: list[bytes] = []
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        monkeypatch.setattr(images, "decode", self.decode)

    def decode(self, want: str, data: bytes) -> object:
        self.decoded.append(data)
        return decoder.decode(want, data)  # type: ignore[arg-type]  # as it is called

    def file(self, name: str, data: bytes) -> str:
        (self.folder / name).write_bytes(data)
        return str(self.folder / name)

    def __call__(self, paths: Iterable[str]) -> Mapping[str, Image | str]:
        self.decoded.clear()
        return prepare_pictures(paths)


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    return Prepared(tmp_path, monkeypatch)


PLAIN, TURNED = noise("PNG"), encoded(corners(), "JPEG", exif=exif_of(6))
LARGE = noise("GIF", 2_100, 2)


def test_a_picture_is_decoded_by_the_first_session_alone(prepared: Prepared) -> None:
    plain, turned = prepared.file("a.png", PLAIN), prepared.file("b.jpg", TURNED)
    first = prepared([plain, turned])
    # By threads, in either order.
    assert Counter(prepared.decoded) == Counter([PLAIN, TURNED])
    assert prepared([plain, turned]) == first
    assert prepared.decoded == []
    assert first[plain] == Image.load(plain)
    sent = first[turned]
    assert isinstance(sent, Image)
    assert opened(sent.read()).size == (32, 48)


def test_equal_pictures_are_decoded_once_wherever_they_lie(prepared: Prepared) -> None:
    paths = [prepared.file(f"{n}.png", PLAIN) for n in range(5)]
    assert prepared(paths) == {path: Image.load(path) for path in paths}
    assert prepared.decoded == [PLAIN]
    moved = prepared.file("elsewhere.png", PLAIN)
    os.utime(moved, (1, 1))
    prepared([moved])
    assert prepared.decoded == []


def test_a_changed_picture_is_decoded_again_though_its_size_and_time_stay(
    prepared: Prepared,
) -> None:
    path = prepared.file("a.png", PLAIN)
    stat = Path(path).stat()
    prepared([path])
    broken = PLAIN[:-60] + bytes([PLAIN[-60] ^ 1]) + PLAIN[-59:]
    prepared.file("a.png", broken)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert "damaged" in str(prepared([path])[path])


def test_a_damaged_picture_is_told_in_each_session_until_it_is_replaced(prepared: Prepared) -> None:
    path = prepared.file("a.png", PLAIN[:-40])
    for _ in range(2):
        assert "damaged" in str(prepared([path])[path])
    prepared.file("a.png", PLAIN)
    assert prepared([path])[path] == Image.load(path)


@pytest.mark.parametrize("text", ["", "x\n", "\0\xff" * 99, "a" * 64 + " " + "b" * 64 + "\n"])
def test_lines_of_others_do_no_harm(prepared: Prepared, text: str) -> None:
    path = prepared.file("a.png", PLAIN)
    prepared([path])
    (memory,) = prepared.cache.glob("decoded-*.txt")
    line = memory.read_text()
    memory.write_text(text + line + line[:70])
    assert prepared([path])[path] == Image.load(path)
    assert prepared.decoded == ([] if text.endswith("\n") or not text else [PLAIN])


def test_a_copy_that_is_gone_is_made_again(prepared: Prepared) -> None:
    path = prepared.file("b.jpg", TURNED)
    first = prepared([path])[path]
    assert isinstance(first, Image)
    Path(first.path).unlink()
    assert prepared([path])[path] == first
    assert Path(first.path).exists()


def test_a_cache_that_cannot_be_written_is_missed_for_copies_alone(prepared: Prepared) -> None:
    (prepared.folder / "cache").write_text("a file where the folder should be")
    plain, turned = prepared.file("a.png", PLAIN), prepared.file("b.jpg", TURNED)
    found = prepared([plain, turned])
    assert found[plain] == Image.load(plain)
    assert "cannot be kept" in str(found[turned])
    assert "set XDG_CACHE_HOME" in str(found[turned])


def test_a_file_that_is_gone_or_none_is_told(prepared: Prepared) -> None:
    text = prepared.file("a.txt", b"no picture")
    found = prepared([text, "/nowhere/p.png"])
    assert "not a PNG, JPEG, GIF or WebP" in str(found[text])
    assert found["/nowhere/p.png"] == "it cannot be read: No such file or directory"


class TestWithoutPillow:
    @pytest.fixture(autouse=True)
    def _no_pillow(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "PIL", None)

    def test_nothing_is_remembered_as_decoded(self, prepared: Prepared) -> None:
        path = prepared.file("b.jpg", TURNED)
        assert prepared([path])[path] == Image.load(path)
        assert not prepared.cache.exists()

    def test_a_picture_that_must_be_scaled_needs_it(self, prepared: Prepared) -> None:
        path = prepared.file("a.gif", LARGE)
        with pytest.raises(UsageError, match=r"pip install 'pytest-llmeval-suite\[vision\]'"):
            prepared([path])


def test_a_folder_gives_pictures_as_they_were_prepared(prepared: Prepared) -> None:
    plain, turned = prepared.file("a.png", PLAIN), prepared.file("b.jpg", TURNED)
    found = {path: one for path, one in prepared([plain, turned]).items() if isinstance(one, Image)}
    prepared.decoded.clear()
    folder = ImageFolder(prepared.folder / "run", prepared=found)
    assert folder.load(plain) == Image.load(plain)
    kept = folder.load(turned)
    assert kept.digest == found[turned].digest
    assert Path(kept.path).parent == folder.path, "a run keeps all that it sent"
    assert prepared.decoded == []
