"""The locked list of jars: which files make the Neo4j that runs here, byte for byte."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import PurePosixPath
from typing import Final

VERSION: Final = "5.26.16"
"""The line with long-term support, which runs on Java 17 to 25."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Jar:
    """A file of the list.

    Attributes:
        path: its place in a Maven repository.
        size: in bytes.
        sha256: of its bytes, in hex.
    """

    path: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """Name of the file, which no other jar of the list has."""
        return PurePosixPath(self.path).name


@cache
def locked_jars() -> tuple[Jar, ...]:
    """Return the list."""
    lines = (line for line in _text().splitlines() if not line.startswith("#"))
    return tuple(
        Jar(path=path, size=int(size), sha256=sha256)
        for path, size, sha256 in map(str.split, lines)
    )


@cache
def lock_digest() -> str:
    """Return a name for the list's content, so that another list is kept elsewhere."""
    return hashlib.sha256(_text().encode()).hexdigest()[:8]


@cache
def _text() -> str:
    return resources.files(__package__).joinpath("locked.txt").read_text("utf-8")
