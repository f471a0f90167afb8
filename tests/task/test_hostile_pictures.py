"""Pictures that are damaged, cut off or huge are refused before any is decoded."""

from __future__ import annotations

import io
import json
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as Pillow

from pytest_llmeval.errors import TaskError
from pytest_llmeval.files.picture_header import check_picture_file
from pytest_llmeval.task import load_task
from pytest_llmeval.task.samples import read_samples

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")


def picture(kind: str, width: int = 40, height: int = 30) -> bytes:
    """Return a picture of noise, which no format packs to nothing."""
    stream = io.BytesIO()
    Pillow.effect_noise((width, height), 100).convert("RGB").save(stream, kind)
    return stream.getvalue()


def enlarged(kind: str, width: int, height: int) -> bytes:
    """Return a small picture whose header claims a size."""
    data = bytearray(picture(kind))
    if kind == "PNG":
        data[16:24] = struct.pack(">II", width, height)
    elif kind == "GIF":
        data[6:10] = struct.pack("<HH", width, height)
    elif kind == "JPEG":
        frame = data.index(b"\xff\xc0")
        data[frame + 5 : frame + 9] = struct.pack(">HH", height, width)
    else:
        at = data.index(b"\x9d\x01\x2a") + 3
        data[at : at + 4] = struct.pack("<HH", width & 0x3FFF, height & 0x3FFF)
    return bytes(data)


LARGE = dict.fromkeys(FORMATS, (60000, 60000)) | {"WEBP": (16_000, 16_000)}
HOSTILE = {
    **{f"a huge {kind}": enlarged(kind, *size) for kind, size in LARGE.items()},
    **{f"a {kind} of no size": enlarged(kind, 0, 10) for kind in FORMATS},
    **{f"a {kind} cut in half": picture(kind)[: len(picture(kind)) // 2] for kind in FORMATS},
    **{f"the beginning of a {kind}": picture(kind)[:20] for kind in FORMATS},
    "a huge PNG": enlarged("PNG", 100_000, 100_000),
    "an SVG": b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>',
    "a JPEG of markers only": b"\xff\xd8" + b"\xff\xe0\x00\x02" * 5_000,
    "a JPEG of fill bytes": b"\xff\xd8" + b"\xff" * 50_000,
    "nothing": b"",
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_picture_is_told_with_file_line_and_key(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "p.img").write_bytes(data)
    row = {"id": 1, "input": "q", "target": "a", "image": "p.img"}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    file = tmp_path / "t.yaml"
    fields = "dataset: {path: rows.jsonl, fields: {images: image}}"
    file.write_text(f'name: t\n{fields}\nprompt: "{{{{ input }}}}"\n')
    with pytest.raises(TaskError) as refused:
        read_samples(load_task(file))
    assert str(refused.value).startswith(f"{tmp_path / 'rows.jsonl'}:1: image: row 1: the image ")


@settings(max_examples=30)
@given(st.sampled_from(FORMATS), st.integers(1, 300), st.integers(1, 300))
def test_every_picture_that_is_whole_is_accepted(
    tmp_path_factory: pytest.TempPathFactory, kind: str, width: int, height: int
) -> None:
    file = tmp_path_factory.mktemp("whole") / "p"
    file.write_bytes(picture(kind, width, height))
    check_picture_file(str(file))
