"""Places of stored replies, as ``--llmeval-reuse`` and ``--llmeval-keep`` name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_llmeval.engine.durations import seconds_of
from pytest_llmeval.engine.replies.folder import ReplyFolder
from pytest_llmeval.engine.replies.ports import ReplyKeeper, ReplySource
from pytest_llmeval.engine.replies.recorder import Recorder
from pytest_llmeval.engine.replies.recording import SUFFIX, Recording
from pytest_llmeval.engine.replies.store import OLD_NAME, REPLIES
from pytest_llmeval.engine.spec_settings import SETTING
from pytest_llmeval.errors import UsageError

REUSE: Final = "--llmeval-reuse"
KEEP: Final = "--llmeval-keep"

_RUN_FILE: Final = "run.json"
"""A file that each run's folder has, and a folder of replies has not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder of replies, a run's folder, or a recording (a file ``*.jsonl``).

    Attributes:
        name: the place as typed, without settings: a path, or the name of a run.
        path: the place as a path. A run given by its name is looked up by the caller.
        max_age: age of replies that are reused, at most (s); None for any.
        only: whether nothing is sent, so that a request without stored reply is an error.
    """

    name: str
    path: Path
    max_age: float | None = None
    only: bool = False

    @property
    def is_recording(self) -> bool:
        """Whether this is a recording."""
        return self.path.suffix == SUFFIX

    @property
    def is_run(self) -> bool:
        """Whether this is the folder of a run."""
        return (self.path / _RUN_FILE).is_file()


def parse_place(text: str, folder: Path, *, option: str) -> Place:
    """Return the place that a text such as ``replies/,max_age=7d`` means.

    Args:
        text: the value of the option.
        folder: where relative paths start.
        option: REUSE or KEEP; only the former takes settings.

    Raises:
        UsageError: the text has no path, or a setting that is unknown, repeated or of wrong value.
    """
    name, *settings = SETTING.split(text)
    if not name:
        msg = f"{option}: {text!r} names no place; expected a folder, a run or FILE{SUFFIX}"
        raise UsageError(msg)
    values: dict[str, str] = {}
    for setting in settings:
        key, _, value = setting.partition("=")
        if option != REUSE or key not in {"max_age", "only"} or key in values:
            allowed = "max_age=AGE and only=on, each once" if option == REUSE else "no settings"
            msg = f"{option} {text!r}: {key}={value} is not taken; allowed: {allowed}"
            raise UsageError(msg)
        values[key] = value
    return Place(
        name=name,
        path=folder / name,
        max_age=_age(values["max_age"], text) if "max_age" in values else None,
        only=_is_on(values.get("only", "off"), text),
    )


def open_source(place: Place, *, endpoints: Mapping[str, str]) -> ReplySource:
    """Return the stored replies of a place.

    A folder that the run also keeps its replies in is made by `open_keeper`; call that first.

    Args:
        place: the place; with `only`, replies from any endpoint are found.
        endpoints: address of each kind of provider by the environment, "" for its default.

    Raises:
        UsageError: there are no replies that can be read.
    """
    if place.is_recording:
        return Recording(place.path, max_age=place.max_age)
    check_replies(place.path)
    return ReplyFolder(
        place.path, endpoints=endpoints, max_age=place.max_age, any_endpoint=place.only
    )


def open_keeper(place: Place, *, endpoints: Mapping[str, str]) -> ReplyKeeper:
    """Return a writer into a place, which is made if it does not exist.

    Args:
        place: a folder of replies or a recording.
        endpoints: address of each kind of provider by the environment, "" for its default.

    Raises:
        UsageError: the place cannot be written, or is a run's folder.
    """
    if place.is_recording:
        return Recorder(place.path)
    make_folder(place)
    return ReplyFolder(place.path, endpoints=endpoints)


def make_folder(place: Place) -> None:
    """Make a folder of replies unless it exists; UsageError if it cannot be one."""
    if place.is_run:
        msg = f"{KEEP} {place.name}: this is the folder of a run; name another folder"
        raise UsageError(msg)
    try:
        place.path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"{KEEP} {place.name}: replies cannot be kept here: {error.strerror or error}"
        raise UsageError(msg) from error


def check_replies(folder: Path) -> None:
    """Raise UsageError if `folder` does not contain a reply store."""
    if not any((folder / name).is_file() for name in (REPLIES, OLD_NAME)):
        msg = (
            f"{folder}: no stored replies here; expected the folder of a run or of {KEEP} "
            f"(with {REPLIES} in it), or a recording FILE{SUFFIX}"
        )
        raise UsageError(msg)


def _age(value: str, text: str) -> float:
    try:
        return seconds_of(value)
    except ValueError:
        problem = f"max_age: {value!r} is not a span of time, such as 90, 30m, 12h or 7d"
        msg = f"{REUSE} {text!r}: {problem}"
        raise UsageError(msg) from None


def _is_on(value: str, text: str) -> bool:
    if value not in {"on", "off"}:
        msg = f"{REUSE} {text!r}: only is {value!r}; expected on or off"
        raise UsageError(msg)
    return value == "on"
