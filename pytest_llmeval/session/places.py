"""The places of stored replies in a session's options."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_llmeval.engine.replies.place import KEEP, REUSE, Place, check_replies, parse_place
from pytest_llmeval.errors import UsageError
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.stored_runs import RESUME, run_called


def kept_place(settings: Settings) -> Place | None:
    """Return the place of ``--llmeval-keep``; None without one, UsageError when it is invalid."""
    if settings.keep is None:
        return None
    return parse_place(settings.keep, Path(settings.folder), option=KEEP)


def reused_place(settings: Settings) -> Place | None:
    """Return the place of ``--llmeval-reuse``; None without one.

    A name that is neither a path nor a recording is a run in the report folder.

    The place of ``--llmeval-keep`` need not exist yet: the run makes it.

    Raises:
        UsageError: the option is invalid, or there are no stored replies.
    """
    if settings.reuse is None:
        return None
    folder = Path(settings.folder)
    place = parse_place(settings.reuse, folder, option=REUSE)
    kept = kept_place(settings)
    if kept is not None and kept.path == place.path:
        return place
    if place.is_run or not (place.is_recording or place.path.is_dir()):
        path = run_called(REUSE, place.name, folder=folder, reports=settings.report)
        place = replace(place, path=path)
    _check(place)
    return place


def with_fixed_places(settings: Settings) -> Settings:
    """Return the settings with the place of ``--llmeval-reuse`` as an absolute path.

    A name such as ``latest`` means another run as soon as this session has made its own.
    """
    place = reused_place(settings)
    if place is None or settings.reuse is None:
        return settings
    return replace(settings, reuse=f"{place.path}{settings.reuse.removeprefix(place.name)}")


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


def _check(place: Place) -> None:
    """Raise UsageError, naming the option, if a place does not contain replies."""
    if place.is_recording and place.path.is_file():
        return
    try:
        check_replies(place.path)
    except UsageError as error:
        msg = f"{REUSE} {place.name}: {error}"
        raise UsageError(msg) from None
