"""``llmeval graph``: install the Neo4j that Cypher tasks ask, or tell whether it is installed."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from pytest_llmeval.domains.heracles.neo4j_jars.installed import (
    FOLDER_VARIABLE,
    INSTALLING,
    RUNNING,
    damaged,
    jars_folder,
    missing,
    missing_modules,
)
from pytest_llmeval.domains.heracles.neo4j_jars.locked import VERSION, locked_jars
from pytest_llmeval.errors import UsageError

MIRROR_VARIABLE: Final = "LLMEVAL_MAVEN_MIRROR"

_YES, _NO = 0, 1
_MEGABYTE = 1_000_000


EXAMPLES = (
    "llmeval graph install",
    "llmeval graph status",
)
"""Command lines that the help shows."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    install = actions.add_parser(
        "install",
        help=f"fetch the jars of Neo4j {VERSION}, once for all checkouts of a user",
        description=(
            f"Fetches the jars of Neo4j {VERSION} (Community, GPL 3) from Maven Central, checks "
            "each by its sha256, and keeps them in the user's cache folder, or in the one that "
            f"{FOLDER_VARIABLE} names. What an interrupted installation fetched is not lost."
        ),
    )
    source = install.add_mutually_exclusive_group()
    source.add_argument(
        "--mirror",
        metavar="URL",
        default=os.environ.get(MIRROR_VARIABLE) or None,
        help=f"Maven repository to fetch from instead of Maven Central (or {MIRROR_VARIABLE})",
    )
    source.add_argument(
        "--jars",
        metavar="FOLDER",
        type=Path,
        help="take the jars from a folder, and nothing from the net",
    )
    actions.add_parser("status", help="tell whether Neo4j is installed (exit status 1: it is not)")


def run(chosen: argparse.Namespace) -> int:
    """Run the action and return its exit status."""
    return _install(chosen) if chosen.action == "install" else _status()


def _install(chosen: argparse.Namespace) -> int:
    absent = missing_modules((*RUNNING, *INSTALLING))
    if absent:
        msg = f"no Python module {', '.join(absent)}; pip install '.[graph]' in the checkout first"
        raise UsageError(msg)
    from jgo.constants import MAVEN_CENTRAL_URL  # noqa: PLC0415 - of the extra

    from pytest_llmeval.domains.heracles.neo4j_jars.install import install  # noqa: PLC0415 - too
    from pytest_llmeval.domains.heracles.neo4j_jars.progress import (  # noqa: PLC0415 - too
        shown_progress,
    )

    if chosen.jars is not None and not chosen.jars.is_dir():
        msg = f"--jars {chosen.jars}: no such folder"
        raise UsageError(msg)
    url, folder = chosen.mirror or MAVEN_CENTRAL_URL, jars_folder()
    if not _is_address(url):
        msg = f"--mirror {url!r}: expected the address of a Maven repository, https://HOST/PATH"
        raise UsageError(msg)
    with shown_progress() as progress:
        try:
            new = install(locked_jars(), folder, url=url, jars=chosen.jars, progress=progress)
        except UsageError as error:
            msg = (
                f"Neo4j is not installed: {error}. Run the command again to go on, name a mirror "
                f"by --mirror URL or {MIRROR_VARIABLE}, or a folder that holds the jars by --jars; "
                "meanwhile Cypher tasks ask ArcadeDB instead"
            )
            raise UsageError(msg) from error
    print(f"Neo4j {VERSION} {'is now' if new else 'was already'} installed in {folder}")
    return _YES


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises ValueError for what is no number
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def _status() -> int:
    problem = missing()
    if problem is None and (bad := damaged(jars_folder(), locked_jars())):
        names = ", ".join(jar.name for jar in bad[:3])
        problem = (
            f"{len(bad)} jars are damaged or cannot be read ({names}); "
            "llmeval graph install replaces them"
        )
    if problem is not None:
        print(f"Neo4j is not installed: {problem}")
        return _NO
    size = f"{len(locked_jars())} jars, {sum(jar.size for jar in locked_jars()) / _MEGABYTE:.0f} MB"
    print(f"Neo4j {VERSION} is installed in {jars_folder()}: {size}")
    return _YES
