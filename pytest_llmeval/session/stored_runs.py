"""Stored runs that a session goes on with, or whose replies it scores again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.lock import FolderLock
from pytest_llmeval.results.run_files import LATEST
from pytest_llmeval.results.stored_run import StoredRun, find_run, read_info, read_run
from pytest_llmeval.session.settings import Settings

RESUME: Final = "--llmeval-resume"

_ASKED: Final = ("models", "judges", "seed", "epochs", "limit", "samples", "overrides")
"""The settings that decide what is asked: those of the stored run hold where the session names
none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """The run to go on with, and the exclusive lock on its folder, taken before it was read."""

    run: StoredRun
    lock: FolderLock


def find_resumed(name: str, *, folder: Path, reports: str | None) -> Resumed:
    """Return the run called `name`: a path from `folder`, a run's name in `reports`, or ``latest``.

    Raises:
        UsageError: there is no such run, or another session is writing into it.
    """
    place = run_called(RESUME, name, folder=folder, reports=reports)
    with _named(RESUME, name):
        lock = FolderLock(place)
        return Resumed(run=read_run(place), lock=lock)


def stored_run(option: str, place: Path) -> StoredRun:
    """Return the run in a folder; UsageError names `option`."""
    with _named(option, str(place)):
        return read_run(place)


def as_asked(settings: Settings, place: Path | None) -> Settings:
    """Return the settings, completed by those of the run in `place` (None: as they are)."""
    if place is None:
        return settings
    stored = read_info(place).get("settings")
    earlier: Mapping[str, Any] = stored if isinstance(stored, dict) else {}
    defaults = Settings()
    unset = {
        one.name
        for one in fields(Settings)
        if getattr(settings, one.name) == getattr(defaults, one.name)
    }
    wanted = {
        name: earlier[name] for name in _ASKED if name in unset and earlier.get(name) is not None
    }
    # As JSON has them; the fields were written from settings like these.
    keywords: Any = {
        name: tuple(value) if isinstance(value, list) else value for name, value in wanted.items()
    }
    return replace(settings, **keywords)


def run_called(option: str, name: str, *, folder: Path, reports: str | None) -> Path:
    """Return the folder of the run called `name`: a path from `folder`, or a name in `reports`.

    Raises:
        UsageError: there is no such run; the message names `option`.
    """
    place = folder / name
    if not place.exists():
        if reports is not None:
            place = Path(reports) / name
        elif name == LATEST:
            msg = (
                f"{option}: name the run's folder, or the folder of runs with --llmeval-report DIR"
            )
            raise UsageError(msg)
    with _named(option, name):
        return find_run(place)


@contextmanager
def _named(option: str, name: str) -> Iterator[None]:
    """Have errors name the option that they are about."""
    try:
        yield
    except UsageError as error:
        msg = f"{option} {name}: {error}"
        raise UsageError(msg) from error
