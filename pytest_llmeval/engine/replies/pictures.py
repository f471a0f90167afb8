"""Copies of pictures that stored replies refer to."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from pytest_llmeval.records import Image


def keep_picture(image: Image, folder: Path) -> Path:
    """Copy a picture into `folder`, named by its digest, and return the copy's path.

    An existing copy is left as it is. The copy appears complete or not at all.
    """
    kept = folder / f"{image.digest}{Path(image.path).suffix}"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        new = kept.with_name(f".{kept.name}.{os.getpid()}")
        shutil.copyfile(image.path, new)
        new.replace(kept)
    return kept
