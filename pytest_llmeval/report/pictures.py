"""The pictures in a report."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.decoder import can_decode
from pytest_llmeval.files.images import small_version
from pytest_llmeval.records import Image, Json
from pytest_llmeval.records.message import MAX_PICTURE_BYTES, media_type_of
from pytest_llmeval.report.pack import squeezed
from pytest_llmeval.safety.regular_files import read_regular

LARGEST: Final = 3_000_000
"""Bytes of the largest picture that is included; of a larger one the path is shown."""

_LARGE: Final = 12_000
"""Bytes from which on a picture has a small version for the table."""

_SMALL_SHARE: Final = 4
"""The part of the budget that small versions may take; it also bounds how many are made."""

_DIGEST = re.compile(r"[0-9a-f]{64}")


class Album:
    """Pictures by digest, each once, up to a budget of characters in the page.

    A file is taken only when its bytes have the digest that the transcript names: a transcript
    cannot bring another file into the report. It is included only if its first bytes are those of
    PNG, JPEG, GIF or WebP.
    """

    def __init__(self, runs: Sequence[Path], budget: int) -> None:
        """Take the runs' folders, which hold the pictures that models made."""
        self._runs, self._left = runs, budget
        self._left_small = budget // _SMALL_SHARE
        self._entries: dict[str, dict[str, Json]] = {}
        self.encoded: list[str] = []

    def add(self, image: Image) -> str:
        """Include a picture if it exists and fits, and return its digest, its name in the page."""
        if image.digest not in self._entries:
            self._entries[image.digest] = self._entry(image, picture_bytes(self._runs, image))
        return image.digest

    def add_with_small(self, image: Image) -> None:
        """Include a picture, and a small version of a large one, while there is room for both.

        There is none without pillow: the page then shows the picture itself, scaled.
        """
        if image.digest in self._entries:
            return
        data = picture_bytes(self._runs, image)
        self._entries[image.digest] = entry = self._entry(image, data)
        if data is None or len(data) <= _LARGE or self._left_small <= 0 or not can_decode():
            return
        with suppress(ValueError, UsageError):
            code = squeezed(small_version(data))
            self._left_small -= len(code)
            entry["small"] = self._included(code, "image/webp")

    def index(self) -> dict[str, Json]:
        """Return the entries by digest.

        An entry is ``{"at": number, "type": media type}`` or ``{"missing": why}``, with the entry
        of its small version under ``small`` if there is one.
        """
        return {**self._entries}

    def _entry(self, image: Image, data: bytes | None) -> dict[str, Json]:
        if data is None:
            return {"missing": f"the picture is not to be found any more ({image.path})"}
        code = squeezed(data)
        if len(data) > LARGEST or len(code) > self._left:
            return {
                "missing": f"{len(data):,} bytes, too many for this file; "
                f"the picture lies at {image.path}"
            }
        return self._included(code, media_type_of(data))

    def _included(self, code: str, media_type: str) -> dict[str, Json]:
        self._left -= len(code)
        self.encoded.append(code)
        return {"at": len(self.encoded) - 1, "type": media_type}


def picture_bytes(runs: Sequence[Path], image: Image) -> bytes | None:
    """Return the bytes of a picture that a transcript of one of the runs names, by their folders.

    None unless they have the digest that the transcript names, and are a picture's.
    """
    if not _DIGEST.fullmatch(image.digest):
        return None
    made = (file for run in runs for file in (run / "images").glob(f"{image.digest}.*"))
    for file in (*made, Path(image.path)):
        try:
            data = read_regular(file, max_bytes=MAX_PICTURE_BYTES)
            if hashlib.sha256(data).hexdigest() == image.digest and media_type_of(data):
                return data
        except (OSError, ValueError):
            continue
    return None
