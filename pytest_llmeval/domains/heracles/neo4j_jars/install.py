"""Installs the jars: whole and checked, or not at all, whatever interrupts it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import filelock

from pytest_llmeval.domains.heracles.neo4j_jars.fetching import PARTIAL, USUAL, Patience, fetch_jars
from pytest_llmeval.domains.heracles.neo4j_jars.installed import damaged, is_whole
from pytest_llmeval.domains.heracles.neo4j_jars.locked import Jar
from pytest_llmeval.errors import UsageError

_SHOWN: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Callbacks by which an installation reports its progress.

    Attributes:
        tell: takes a line of text.
        begin: takes the bytes that are to come.
        fetched: takes the bytes that came since the last call, negative when some were dropped.
    """

    tell: Callable[[str], None]
    begin: Callable[[int], None]
    fetched: Callable[[int], None]


def install(  # noqa: PLR0913 - all but two by name
    locked: Sequence[Jar],
    folder: Path,
    *,
    url: str,
    jars: Path | None,
    progress: Progress,
    patience: Patience = USUAL,
) -> bool:
    """Make `folder` hold all jars of a list; return False if it did already.

    The files are gathered in a folder beside it, which gets its name when all are whole; what an
    interrupted installation has left there is used. Two installations wait for one another.

    Args:
        locked: the list.
        folder: where the jars are kept.
        url: address of the Maven repository, used without `jars`.
        jars: a folder to copy them from; it may hold other files, too.
        progress: is told what happens.
        patience: how long a poor connection is put up with.

    Raises:
        UsageError: a jar is missing, cannot be had, or has other bytes; nothing is installed.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder, progress.tell):
            # Left behind by an installation that was killed at its very end.
            shutil.rmtree(_replaced(folder), ignore_errors=True)
            if not damaged(folder, locked):
                return False
            gathered = folder.with_name(folder.name + PARTIAL)
            gathered.mkdir(exist_ok=True)
            wanted = _gather_held(locked, folder, gathered)
            if jars is None:
                progress.begin(sum(jar.size for jar in wanted))
                asyncio.run(
                    fetch_jars(
                        wanted,
                        url,
                        gathered,
                        fetched=progress.fetched,
                        patience=patience,
                    )
                )
            else:
                _copy(wanted, jars, gathered)
            _put_in_place(locked, gathered, folder)
    except OSError as error:
        msg = f"{folder}: {error.strerror or error}"
        raise UsageError(msg) from error
    return True


@contextmanager
def _locked(folder: Path, tell: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock on a folder, which also ends with the process."""
    lock = filelock.FileLock(folder.with_name(folder.name + ".lock"))
    try:
        held = lock.acquire(timeout=0)
    except filelock.Timeout:
        tell(f"waiting for another installation into {folder}")
        held = lock.acquire()
    with held:
        yield


def _gather_held(locked: Sequence[Jar], folder: Path, gathered: Path) -> list[Jar]:
    """Copy the whole jars of a damaged installation into `gathered`; return what is wanting."""
    wanted = []
    for jar in locked:
        if is_whole(gathered / jar.name, jar):
            continue
        (gathered / jar.name).unlink(missing_ok=True)
        if is_whole(folder / jar.name, jar):
            shutil.copyfile(folder / jar.name, gathered / jar.name)
        else:
            wanted.append(jar)
    return wanted


def _copy(wanted: Sequence[Jar], source: Path, gathered: Path) -> None:
    """Copy jars from a folder, all or none.

    Raises:
        UsageError: some are missing there, or have other bytes.
    """
    found = {file.name: file for file in sorted(source.rglob("*.jar")) if file.is_file()}
    absent = [jar.name for jar in wanted if jar.name not in found]
    wrong = [jar.name for jar in wanted if jar.name in found and not is_whole(found[jar.name], jar)]
    problems = [
        f"{len(names)} {what} ({', '.join(names[:_SHOWN])}{', ...' * (len(names) > _SHOWN)})"
        for what, names in (
            ("are missing", absent),
            ("have other bytes than the list says, or cannot be read", wrong),
        )
        if names
    ]
    if problems:
        msg = f"{source}: of {len(wanted)} jars, {' and '.join(problems)}; nothing was installed"
        raise UsageError(msg)
    for jar in wanted:
        partial = gathered / (jar.name + PARTIAL)
        shutil.copyfile(found[jar.name], partial)
        partial.replace(gathered / jar.name)


def _put_in_place(locked: Sequence[Jar], gathered: Path, folder: Path) -> None:
    """Give the gathered jars the name under which they count as installed.

    Raises:
        UsageError: they changed meanwhile.
    """
    if bad := damaged(gathered, locked):
        msg = f"{gathered / bad[0].name}: changed while it was installed; install again"
        raise UsageError(msg)
    for rest in gathered.glob("*" + PARTIAL):
        rest.unlink()
    if folder.exists():
        aside = _replaced(folder)
        folder.rename(aside)
        gathered.rename(folder)
        shutil.rmtree(aside, ignore_errors=True)
    else:
        gathered.rename(folder)


def _replaced(folder: Path) -> Path:
    """Return where a damaged installation is kept while another one takes its place."""
    return folder.with_name(folder.name + ".old")
