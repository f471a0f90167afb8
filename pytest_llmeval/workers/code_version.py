"""The version of this package with a digest of its files, to compare processes."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from pytest_llmeval.safety.regular_files import read_regular

DISTRIBUTION: Final = "pytest-llmeval-suite"

_COMPILED = {".pyc", ".pyo"}

_LARGEST_FILE = 1 << 26
"""Bytes of a file of the package at most."""


@cache
def code_version() -> str:
    """Return version and digest, such as ``0.1.0 (3f2a90c1)``.

    Two checkouts of one version may score differently; the digest shows it. A checkout that is not
    installed has no version.
    """
    try:
        number = version(DISTRIBUTION)
    except PackageNotFoundError:
        number = "not installed"
    return f"{number} ({folder_digest(Path(__file__).parents[1])[:8]})"


def python_version() -> str:
    """Return the version of this Python, such as ``3.11.7``."""
    return platform.python_version()


def folder_digest(folder: Path) -> str:
    """Return the sha256, in hex, of names and bytes of all files but compiled ones."""
    digest = hashlib.sha256()
    for file in sorted(file for file in folder.rglob("*") if file.suffix not in _COMPILED):
        if file.is_file():
            name = file.relative_to(folder).as_posix().encode("utf-8", "surrogateescape")
            content = hashlib.sha256(read_regular(file, max_bytes=_LARGEST_FILE)).digest()
            digest.update(hashlib.sha256(name).digest() + content)
    return digest.hexdigest()
