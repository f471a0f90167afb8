"""Looking into places of stored replies, deleting old replies, and copying between places."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec.structs import replace

from pytest_llmeval.engine.replies.folder import ReplyFolder, located
from pytest_llmeval.engine.replies.place import Place, check_replies, make_folder
from pytest_llmeval.engine.replies.recorder import Recorder
from pytest_llmeval.engine.replies.recording import read_recording
from pytest_llmeval.engine.replies.store import IMAGES, REPLIES, ReplyStore, Stock
from pytest_llmeval.engine.replies.stored_reply import StoredReply
from pytest_llmeval.engine.spec_settings import split_spec
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Role


def stocks(place: Place) -> list[Stock]:
    """Return what a place holds of each model, by name.

    Raises:
        UsageError: there are no replies that can be read.
    """
    if not place.is_recording:
        with _opened(place.path) as store:
            return store.stocks()
    dates: dict[str, list[float]] = {}
    for line in read_recording(place.path):
        dates.setdefault(line.model, []).append(line.created)
    return [Stock(model, len(of), min(of), max(of)) for model, of in sorted(dates.items())]


def prune(place: Place, *, older_than: float) -> int:
    """Delete old replies of a folder, and pictures that no other reply refers to.

    Args:
        place: a folder of replies.
        older_than: age from which replies are deleted (s).

    Returns:
        The number of deleted replies.

    Raises:
        UsageError: there is no reply store, or the place is a run or a recording.
    """
    if place.is_recording or place.is_run:
        what = "a recording" if place.is_recording else "the folder of a run"
        msg = f"{place.name}: this is {what}; only a folder of replies is pruned"
        raise UsageError(msg)
    with _opened(place.path) as store:
        deleted = store.forget(time.time() - older_than)
        named = {Path(image.path).name for stored in store.all() for image in stored.images}
    for picture in (place.path / IMAGES).glob("*"):
        if picture.name not in named:
            picture.unlink()
    return deleted


def copy(
    source: Place, target: Place, *, models: Collection[str] = (), endpoints: Mapping[str, str]
) -> int:
    """Copy replies from one place to another.

    Replies that come out of a recording get the endpoint of this environment, for recordings do
    not have it. Replies that were recorded ones when they were stored are left out of folders.

    Args:
        source: any place.
        target: a folder of replies, which may exist, or a recording, which may not.
        models: models whose replies are copied; empty for all.
        endpoints: address of each kind of provider by the environment, "" for its default.

    Returns:
        The number of replies that the copy brought.

    Raises:
        UsageError: a place cannot be used, or two models answered the same request in one role,
            which a recording cannot hold.
    """
    chosen = [one for one in _stored_in(source) if not models or one.model in models]
    if target.is_recording:
        return _record(chosen, target.path)
    live = [one for one in chosen if not one.model.startswith("replay/")]
    make_folder(target)
    with closing(ReplyFolder(target.path, endpoints=endpoints)) as folder:
        for one in live:
            kind = split_spec(one.model)[0]
            here = endpoints.get(kind, "") if source.is_recording else one.endpoint
            folder.put(replace(one, endpoint=here))
    return len(live)


def _record(chosen: list[StoredReply], file: Path) -> int:
    if file.exists():
        msg = f"{file} exists already; name a new file"
        raise UsageError(msg)
    answered_by: dict[tuple[str, Role], str] = {}
    for one in chosen:
        if (other := answered_by.setdefault((one.key, one.role), one.model)) != one.model:
            msg = (
                f"{other} and {one.model} answered the same request; "
                "name the model to copy with --model"
            )
            raise UsageError(msg)
    with closing(Recorder(file)) as recorder:
        # Oldest first: of one model's replies at several endpoints the newest counts.
        for one in chosen:
            recorder.add(one)
    return len(answered_by)


def _stored_in(place: Place) -> Iterator[StoredReply]:
    """Yield a place's replies, oldest first in a store, with pictures at absolute paths."""
    if place.is_recording:
        yield from read_recording(place.path)
        return
    with _opened(place.path) as store:
        for stored in store.all():
            yield located(stored, place.path)


@contextmanager
def _opened(folder: Path) -> Iterator[ReplyStore]:
    check_replies(folder)
    with closing(ReplyStore(folder / REPLIES)) as store:
        yield store
