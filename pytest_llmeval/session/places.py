"""The places of stored replies in a session's options."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_llmeval.engine.replies.place import KEEP, REUSE, Place, parse_place
from pytest_llmeval.errors import UsageError
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.stored_runs import RESUME, place_of


def kept_place(settings: Settings) -> Place | None:
    """Return the place of ``--llmeval-keep``; None without one, UsageError when it is invalid."""
    if settings.keep is None:
        return None
    return parse_place(settings.keep, Path(settings.folder), option=KEEP)


def reused_place(settings: Settings) -> Place | None:
    """Return the place of ``--llmeval-reuse``; None without one.

    A name that is neither a path nor a recording is a run in the report folder.

    Raises:
        UsageError: the option is invalid, or there is no such run.
    """
    if settings.reuse is None:
        return None
    place = parse_place(settings.reuse, Path(settings.folder), option=REUSE)
    if place.path.exists() or place.is_recording:
        return place
    path = place_of(REUSE, place.name, folder=Path(settings.folder), reports=settings.report)
    return replace(place, path=path)


def rescored_place(settings: Settings) -> Path | None:
    """Return the folder of the run that is scored again, from its replies alone; None without one.

    Raises:
        UsageError: the option is invalid, or the session also resumes a run.
    """
    place = reused_place(settings)
    if place is None or not (place.only and place.is_run):
        return None
    if settings.resume is not None:
        msg = (
            f"{REUSE} {settings.reuse} makes a new run, and {RESUME} continues a stored one; "
            "use one of the two"
        )
        raise UsageError(msg)
    return place.path
