"""Measure drawn diagrams: their bytes against the originals' and zlib's, and CPU time, as JSON.

Run from the checkout: ``python performance/drawings.py FOLDER`` draws a line and a point over every
PNG below the folder, such as the public test diagrams. Pillow decodes each drawing, to compare.
"""

from __future__ import annotations

import io
import json
import statistics
import sys
import time
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from PIL import Image

from pytest_llmeval.domains.geometry3k.canvas import Canvas
from pytest_llmeval.domains.geometry3k.png import png
from pytest_llmeval.files.images import decoded


def measured(file: Path) -> dict[str, float]:
    """Return the bytes of a picture's forms, and the CPU milliseconds of writing the drawing."""
    original = file.read_bytes()
    canvas = Canvas(np.asarray(decoded(original), dtype=np.uint8))
    height, width, _ = canvas.pixels.shape
    canvas.line((width * 0.1, height * 0.1), (width * 0.8, height * 0.9))
    canvas.point((width * 0.5, height * 0.5), "M")
    start = time.process_time()
    data = png(canvas.pixels)
    taken = time.process_time() - start
    if not np.array_equal(np.asarray(Image.open(io.BytesIO(data)).convert("RGB")), canvas.pixels):
        msg = f"{file}: pillow reads other pixels than were written"
        raise SystemExit(msg)
    begin, end = data.index(b"IDAT") + 4, data.rindex(b"IEND") - 8
    rows = zlib.decompress(data[begin:end])
    frame = len(data) - (end - begin)
    return {
        "original": len(original),
        "drawing": len(data),
        "zlib 9": frame + len(zlib.compress(rows, 9)),
        "uncompressed": frame + len(rows),
        "ms": 1000 * taken,
    }


def main() -> None:
    """Print the sums, and mean and 99 % quantile of the time."""
    found = [measured(file) for file in sorted(Path(sys.argv[1]).rglob("*.png"))]
    times = sorted(one.pop("ms") for one in found)
    total = {name: sum(one[name] for one in found) for name in found[0]}
    spread = {"mean ms": statistics.fmean(times), "99 % ms": times[int(len(times) * 0.99)]}
    print(json.dumps({"pictures": len(found), **total, **spread}))


if __name__ == "__main__":
    main()
