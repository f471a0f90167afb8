"""What it costs to decode the pictures of a dataset, once and when they are known.

    python performance/pictures.py                     # the public Geometry3K pictures
    python performance/pictures.py FOLDER              # all pictures of a folder
    python performance/pictures.py --largest           # a picture of 49 million pixels of each kind

Prints wall seconds, processor seconds of this process and of the children that decode, megabytes
that this process grows by, and for the largest pictures the most memory of a child.
"""

from __future__ import annotations

import argparse
import io
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image as Pillow

from pytest_llmeval.files import decoder
from pytest_llmeval.files.images import check_picture
from pytest_llmeval.files.picture_header import check_picture_file
from pytest_llmeval.files.prepared import prepare_pictures

SHARED = Path(os.environ.get("LLMEVAL_SHARED", Path(__file__).parents[2] / "shared"))
PUBLIC = SHARED / "data" / "geometry3k" / "images"
SIDE = 7_000


def measured(name: str, work: Callable[[], object]) -> None:
    """Do some work, let its children end, and print what it cost."""

    def used(who: int) -> float:
        usage = resource.getrusage(who)
        return usage.ru_utime + usage.ru_stime

    megabyte = 1 << (10 if sys.platform == "linux" else 20)
    before = [time.perf_counter(), used(resource.RUSAGE_SELF), used(resource.RUSAGE_CHILDREN)]
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work()
    wall = time.perf_counter() - before[0]
    decoder._pool().close()  # noqa: SLF001 - only children that have ended are counted
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident) / megabyte
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / megabyte
    print(
        f"{name:<28} {wall:7.2f} s   own CPU {used(resource.RUSAGE_SELF) - before[1]:6.2f} s   "
        f"children {used(resource.RUSAGE_CHILDREN) - before[2]:6.2f} s   "
        f"grown {grown:5.1f} MB   largest child {largest:5.0f} MB"
    )


def check_headers(paths: Sequence[str]) -> None:
    """Check the headers and ends of pictures."""
    for path in paths:
        check_picture_file(path)


def measure_folder(folder: Path) -> None:
    """Measure the check of headers, decoding, and finding all known, of a folder's pictures."""
    paths = sorted(str(path) for path in folder.iterdir() if path.is_file())
    size = sum(Path(path).stat().st_size for path in paths) / 1e6
    print(f"{len(paths)} pictures of {folder}, {size:.1f} MB")
    measured("headers, at collection", lambda: check_headers(paths))
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        measured("decoded, the first session", lambda: prepare_pictures(paths))
        measured("known, later sessions", lambda: prepare_pictures(paths))


def measure_largest() -> None:
    """Measure the decoding of the largest pictures, of noise, one child for each."""
    noise = Pillow.effect_noise((SIDE // 4, SIDE // 4), 100).resize((SIDE, SIDE))
    kinds: dict[str, tuple[str, str, dict[str, Any]]] = {
        "PNG of grey": ("L", "PNG", {}),
        "PNG with transparency": ("RGBA", "PNG", {"compress_level": 1}),
        "PNG of 16 bits": ("I;16", "PNG", {}),
        "JPEG": ("RGB", "JPEG", {}),
        "progressive JPEG of CMYK": ("CMYK", "JPEG", {"progressive": True}),
        "WebP with transparency": ("RGBA", "WEBP", {"quality": 50}),
        "lossless WebP": ("RGB", "WEBP", {"lossless": True, "quality": 0, "method": 0}),
        "GIF": ("L", "GIF", {}),
    }
    for name, (mode, kind, options) in kinds.items():
        stream = io.BytesIO()
        noise.convert(mode).save(stream, kind, **options)
        data = stream.getvalue()
        measured(f"{name} ({len(data) / 1e6:.0f} MB)", partial(check_picture, data))


def main() -> None:
    """Measure what the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=PUBLIC)
    parser.add_argument("--largest", action="store_true")
    given = parser.parse_args()
    if given.largest:
        measure_largest()
    else:
        measure_folder(given.folder)


if __name__ == "__main__":
    main()
