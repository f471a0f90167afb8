"""Atomic replacement of files and links."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a file to write, which replaces `path` when the block ends without error.

    What an earlier writer of this file left behind when it was killed is removed.

    Raises:
        OSError: the file cannot be written; the old one is unchanged.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        for left in _left_behind(path):
            left.unlink(missing_ok=True)
        yield temporary
        with temporary.open("ab") as file:
            # Without it a power failure may leave the new name with an empty file.
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_atomically(path: Path, text: str | Iterable[str]) -> None:
    """Replace a file so that readers see either the old or the new text, never a part.

    The text, or its parts, are written in UTF-8; a lone surrogate, which UTF-8 cannot encode, as
    its escape. What an earlier writer of this file left behind when it was killed is removed.

    Raises:
        OSError: the file cannot be written; the old one is unchanged.
    """
    with (
        replacing(path) as temporary,
        temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file,
    ):
        file.writelines((text,) if isinstance(text, str) else text)


def point_at(pointer: Path, name: str) -> None:
    """Make `pointer` a symbolic link to the directory `name` in its folder.

    Where links are not supported, it becomes a text file that holds `name`.
    """
    temporary = pointer.with_name(f".{pointer.name}.{os.getpid()}")
    try:
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(name, target_is_directory=True)
        temporary.replace(pointer)
    except OSError:
        temporary.unlink(missing_ok=True)
        write_atomically(pointer, name + "\n")


def _left_behind(path: Path) -> Iterator[Path]:
    """Yield the temporary files of `path` whose writers have ended."""
    for file in path.parent.glob(f".{escape(path.name)}.*"):
        writer = file.name.rpartition(".")[2]
        if writer.isdecimal() and not _lives(int(writer)):
            yield file


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
