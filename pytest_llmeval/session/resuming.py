"""Which run `--llmeval-resume` and `--llmeval-replay-run` mean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.lock import FolderLock
from pytest_llmeval.records import Json
from pytest_llmeval.results.store import LATEST, StoredRun, find_run, read_info, read_run

RESUME = "--llmeval-resume"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """The run to go on with, as it was read, and the right to write into it, taken before: nobody changes it since."""

    run: StoredRun
    lock: FolderLock


def find_resumed(name: str, *, folder: Path, reports: str | None) -> Resumed:
    """Return the run called `name`, as `find_stored` does; UsageError also when another session is writing into it."""
    place = _place(RESUME, name, folder=folder, reports=reports)
    with _named(RESUME, name):
        place = find_run(place)
        lock = FolderLock(place)
        return Resumed(run=read_run(place), lock=lock)


def find_stored(option: str, name: str, *, folder: Path, reports: str | None) -> StoredRun:
    """Return the run called `name`: a path from `folder`, or a run's name in `reports`, or ``latest`` there.

    UsageError names the `option` and the run that does not exist.
    """
    place = _place(option, name, folder=folder, reports=reports)
    with _named(option, name):
        return read_run(place)


def find_info(option: str, name: str, *, folder: Path, reports: str | None) -> dict[str, Json]:
    """Return what stands in run.json of the run that `find_stored` returns, without reading all of its rows."""
    place = _place(option, name, folder=folder, reports=reports)
    with _named(option, name):
        return read_info(place)


def _place(option: str, name: str, *, folder: Path, reports: str | None) -> Path:
    place = folder / name
    if reports is not None and not place.exists():
        return Path(reports) / name
    if name == LATEST and not place.exists():
        msg = f"{option}: name the run's folder, or the folder of runs with --llmeval-report DIR"
        raise UsageError(msg)
    return place


@contextmanager
def _named(option: str, name: str) -> Iterator[None]:
    """Have errors say which option they are about."""
    try:
        yield
    except UsageError as error:
        msg = f"{option} {name}: {error}"
        raise UsageError(msg) from error
