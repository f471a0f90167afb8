"""What a sample asks: its text, and a digest by which results know that two tasks ask the same."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from typing import Final

from pytest_llmeval.records import Sample
from pytest_llmeval.safety.regular_files import open_regular
from pytest_llmeval.task.choices import choices_text
from pytest_llmeval.templates.language import IMAGE_TAG

_DIGITS: Final = 16
"""64 bits: two questions under one id do not get the same digest by accident."""

_PICTURES: Final = 10_000
"""Pictures whose digests are remembered, because several tasks ask about them."""


def question_text(sample: Sample) -> str:
    """Return what a sample asks, for people: its input, and its choices as they are shown.

    Where pictures stand in the input is left out.
    """
    asked = sample.input.replace(IMAGE_TAG, "").strip() if sample.images else sample.input
    return f"{asked}\n{choices_text(sample)}" if sample.choices else asked


def question_digest(sample: Sample) -> str:
    """Return the digest of a sample's input, choices and the bytes of its pictures.

    The order of the choices makes no difference. It is "" where a picture cannot be read any more:
    then nothing is known to be the same.
    """
    digest = hashlib.sha256(sample.input.encode("utf-8", "surrogatepass"))
    for _, text in sorted(zip(sample.order, sample.choices, strict=True)):
        digest.update(f"\1{text}".encode("utf-8", "surrogatepass"))
    try:
        for path in sample.images:
            state = os.stat(path)  # noqa: PTH116 - as fast as can be, once a row
            digest.update(b"\0" + _picture_digest(path, state.st_size, state.st_mtime_ns))
    except OSError:
        return ""
    return digest.hexdigest()[:_DIGITS]


@lru_cache(maxsize=_PICTURES)
def _picture_digest(path: str, size: int, changed: int) -> bytes:  # noqa: ARG001 - a file's state
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").digest()
