"""Pictures of replies, kept beside the file that speaks of them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from pytest_llmeval.records import Image


def keep_picture(image: Image, folder: Path) -> Path:
    """Copy a picture into `folder` under its digest, unless it is there, and return the copy's path."""
    kept = folder / f"{image.digest}{Path(image.path).suffix}"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        new = kept.with_name(f".{kept.name}.{os.getpid()}")
        shutil.copyfile(image.path, new)
        new.replace(kept)
    return kept
