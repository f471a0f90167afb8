"""Replacing a file as a whole."""

from __future__ import annotations

import os
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Replace a file so that a reader sees the old or the new text, never a part.

    A lone surrogate, which UTF-8 cannot hold, is written as its escape.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
            file.flush()
            # The name must not reach the disk before the text: a power cut would leave an empty
            # file.
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def point_at(pointer: Path, name: str) -> None:
    """Make `pointer` a link to `name` in its folder; a text file with the name if links fail."""
    temporary = pointer.with_name(f".{pointer.name}.{os.getpid()}")
    try:
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(name, target_is_directory=True)
        temporary.replace(pointer)
    except OSError:
        temporary.unlink(missing_ok=True)
        write_atomically(pointer, name + "\n")
