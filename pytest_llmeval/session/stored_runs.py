"""Stored runs that a session continues, or whose replies it scores again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.lock import FolderLock
from pytest_llmeval.results.row_texts import lean
from pytest_llmeval.results.run_files import LATEST
from pytest_llmeval.results.stored_run import StoredRun, find_run, read_info, read_run
from pytest_llmeval.session.settings import Settings

RESUME: Final = "--llmeval-resume"

_ASKED: Final = ("models", "judges", "seed", "epochs", "limit", "samples", "overrides")
"""The settings that decide requests; those that the session leaves unset are taken from the stored
run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """The run to continue, and the exclusive lock on its folder, which was taken before reading.

    Its rows lack long texts (`row_texts.lean`).
    """

    run: StoredRun
    lock: FolderLock


def find_resumed(name: str, *, folder: Path, reports: str | None) -> Resumed:
    """Return the run to continue, and lock its folder.

    Args:
        name: a path, the name of a run in `reports`, or ``latest``.
        folder: where a relative path starts.
        reports: the report folder.

    Raises:
        UsageError: there is no such run, or another session is writing into it.
    """
    place = run_called(RESUME, name, folder=folder, reports=reports)
    with _named(RESUME, name):
        lock = FolderLock(place)
        return Resumed(run=read_run(place, lean), lock=lock)


def stored_run(option: str, place: Path) -> StoredRun:
    """Return the run in the folder `place`; UsageError, which names `option`, if there is none."""
    with _named(option, str(place)):
        return read_run(place)


def as_asked(settings: Settings, place: Path | None) -> Settings:
    """Return the settings, completed by those of the run that is scored again.

    Args:
        settings: the session's settings.
        place: the folder of the run whose replies alone are used; None leaves `settings` unchanged.

    Raises:
        UsageError: the run cannot be read.
    """
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
    # JSON has lists in place of tuples; the values were written from `Settings`.
    keywords: Any = {
        name: tuple(value) if isinstance(value, list) else value for name, value in wanted.items()
    }
    roles = {role: tuple(specs) for role, specs in earlier.get("roles", {}).items()}
    return replace(settings, **keywords, roles={**roles, **settings.roles})


def run_called(option: str, name: str, *, folder: Path, reports: str | None) -> Path:
    """Return the folder of a run.

    Args:
        option: the option that names the run, for errors.
        name: a path, the name of a run in `reports`, or ``latest``.
        folder: where a relative path starts.
        reports: the report folder.

    Raises:
        UsageError: there is no such run.
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
    """Prefix UsageErrors with the option that they are about."""
    try:
        yield
    except UsageError as error:
        msg = f"{option} {name}: {error}"
        raise UsageError(msg) from error
