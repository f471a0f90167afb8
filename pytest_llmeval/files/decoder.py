"""Pictures are decoded in children, bounded in number, memory and time.

A few bytes of a picture can demand gigabytes or minutes, and the C code of decoders has had holes.
So no picture is decoded in this process: `picture_child` does it, without files and network. A
child that hangs or dies is replaced, and the picture that it worked on is told as the reason.
"""

from __future__ import annotations

import json
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.child_pool import ChildEndedError, ChildPool
from pytest_llmeval.files.picture_header import PIXEL_LIMIT

LONGEST_SIDE: Final = 2_048
"""Most pixels of a side of a picture that is sent; providers themselves scale longer ones down."""

PROCESSES: Final = min(2, os.cpu_count() or 1)
"""Pictures that are decoded at the same time."""

MEMORY_MB: Final = 1_300
"""Memory of a child at most (address space; macOS does not limit it). The largest WebP that is read
needs 1,150 MB, pictures of two megapixels 50 MB."""

CPU_SECONDS: Final = 30
"""Processor time of one picture at most; one of PIXEL_LIMIT takes 4 to 6."""

WALL_SECONDS: Final = 120.0
"""Wall time of one picture at most, for a machine that is busy."""

_BYTES_OF_A_PIXEL = 4


def can_decode() -> bool:
    """Return whether pillow, the extra ``vision``, is installed."""
    return find_spec("PIL") is not None


def decode(want: Literal["sent", "pixels", "small"], data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return a child's answer about a picture, and its bytes; see `picture_child`.

    Raises:
        ValueError: the picture is damaged, or decoding it takes too much time or memory.
        UsageError: pillow is not installed, or does not work.
    """
    if not can_decode():
        msg = (
            "pictures are decoded by pillow, which is not installed: "
            "pip install 'pytest-llmeval-suite[vision]'"
        )
        raise UsageError(msg)
    try:
        (reply,) = _pool().ask(want.encode() + b"\n" + data)
    except ChildEndedError as ended:
        problem = f"takes more than {CPU_SECONDS} s to decode" if ended.late else "ends its decoder"
        msg = f"a damaged picture: it {problem}"
        raise ValueError(msg) from None
    line, _, content = reply.partition(b"\n")
    answer: dict[str, Any] = json.loads(line)
    if "problem" in answer:
        raise ValueError(answer["problem"])
    return answer, content


@cache
def _pool() -> ChildPool:
    return ChildPool(
        Path(__file__).with_name("picture_child.py"),
        (MEMORY_MB, CPU_SECONDS, PIXEL_LIMIT, LONGEST_SIDE),
        processes=PROCESSES,
        wall_seconds=WALL_SECONDS,
        max_reply=PIXEL_LIMIT * _BYTES_OF_A_PIXEL,
    )
