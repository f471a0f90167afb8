"""Storing pictures in a folder, each once under the sha256 of its bytes."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path
from typing import Final

from pytest_llmeval.records import Image
from pytest_llmeval.records.message import media_type_of

SUFFIX: Final = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
}
"""The suffix of a stored picture's file, by its media type."""


def keep(data: bytes, folder: Path) -> Image:
    """Store a picture in `folder`, which is created if necessary, and return its image.

    Raises:
        ValueError: the bytes are not a PNG, JPEG, GIF or WebP.
        OSError: the file cannot be written.
    """
    media_type = media_type_of(data)
    digest = hashlib.sha256(data).hexdigest()
    file = folder / f"{digest}{SUFFIX[media_type]}"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        # Several threads may save equal pictures at the same time.
        part = file.with_name(f"{file.name}.{os.getpid()}.{threading.get_ident()}.part")
        try:
            part.write_bytes(data)
            part.replace(file)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    return Image(digest=digest, media_type=media_type, path=str(file))


def own_folder() -> Path:
    """Return the folder, in the user's cache, of pictures that were embedded in dataset files."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "pytest-llmeval" / "pictures"
