"""Pictures kept in a folder, each once, under the sha256 of its bytes."""

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


def keep(data: bytes, folder: Path) -> Image:
    """Store the bytes in `folder`, made if need be, and return the image; ValueError when they show no picture."""
    media_type = media_type_of(data)
    digest = hashlib.sha256(data).hexdigest()
    file = folder / f"{digest}{SUFFIX[media_type]}"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        # Equal drawings of two samples are saved by two threads at a time.
        part = file.with_name(f"{file.name}.{os.getpid()}.{threading.get_ident()}.part")
        try:
            part.write_bytes(data)
            part.replace(file)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    return Image(digest=digest, media_type=media_type, path=str(file))


def own_folder() -> Path:
    """Return where pictures lie that came inside of a dataset file: in the user's cache, for all runs."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "pytest-llmeval" / "pictures"
