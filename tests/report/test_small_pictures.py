"""Small versions of pictures for the table of samples."""

from __future__ import annotations

import base64
import io
import json
import os
import zlib
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pillow
from report.html_run import PICTURE, row, write_report, write_run
from report.in_chromium import Open

from pytest_llmeval.records import Image
from pytest_llmeval.report import pictures
from pytest_llmeval.report.pictures import Album
from pytest_llmeval.results.questions import Question
from pytest_llmeval.results.run_files import SAMPLES


def entries_of(album: Album) -> dict[str, Any]:
    return dict(album.index())


DRAWN = """
() => [...document.querySelectorAll('#table img')].filter((one) => one.naturalWidth).length === 2
"""


def noise(file: Path, side: int = 300) -> Image:
    """Write a picture that cannot be compressed."""
    Pillow.frombytes("RGB", (side, side), os.urandom(side * side * 3)).save(file)
    return Image.load(file)


def test_a_large_picture_has_a_small_version_and_a_small_one_has_none(tmp_path: Path) -> None:
    album = Album([tmp_path], 10_000_000)
    large = noise(tmp_path / "large.png")
    album.add_with_small(large)
    album.add_with_small(Image.load(PICTURE))
    entries = entries_of(album)
    small = entries[large.digest]["small"]
    data = zlib.decompress(base64.b64decode(album.encoded[small["at"]]))
    made = Pillow.open(io.BytesIO(data))
    assert (made.format, max(made.size)) == ("WEBP", 160)
    assert "small" not in entries[Image.load(PICTURE).digest]


def test_small_versions_end_with_their_room(tmp_path: Path) -> None:
    album = Album([tmp_path], 60_000)
    images = [noise(tmp_path / f"{number}.png") for number in range(8)]
    for image in images:
        album.add_with_small(image)
    made = [image for image in images if "small" in entries_of(album)[image.digest]]
    assert 0 < len(made) < len(images)
    assert sum(map(len, album.encoded)) <= 60_000


def test_without_pillow_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "can_decode", lambda: False)
    album = Album([tmp_path], 10_000_000)
    large = noise(tmp_path / "large.png")
    album.add_with_small(large)
    assert entries_of(album) == {large.digest: {"at": 0, "type": "image/png"}}


def test_a_damaged_picture_has_none(tmp_path: Path) -> None:
    file = tmp_path / "damaged.png"
    noise(file)
    file.write_bytes(file.read_bytes()[:20_000])
    damaged = Image.load(file)
    album = Album([tmp_path], 10_000_000)
    album.add_with_small(damaged)
    assert "small" not in entries_of(album)[damaged.digest]


@pytest.mark.parametrize("pillow", [True, False])
def test_the_table_shows_the_pictures_of_questions(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, pillow: bool
) -> None:
    monkeypatch.setattr(pictures, "can_decode", lambda: pillow)
    images = (noise(tmp_path / "large.png"), Image.load(PICTURE))
    lost = Image(digest="0" * 64, media_type="image/png", path="/nowhere.png")
    folder = write_run(tmp_path / "reports", [(row("graph", "1", "correct"), None)])
    line = Question(task="graph", sample="1", question="", text="What?", images=(*images, lost))
    (folder / SAMPLES).write_text(json.dumps(line.to_json()) + "\n")
    page = opened(write_report(folder)).page
    page.wait_for_function(DRAWN)
    widths = page.locator("#table img").evaluate_all("all => all.map((one) => one.naturalWidth)")
    assert widths[0] == (160 if pillow else 300)
    assert page.locator("#table .thumbnail.none").inner_text() == "picture not shown"
