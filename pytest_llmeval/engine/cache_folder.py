"""A cache's folder as a whole: what it holds, what is too old, and its content as a recording."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from pytest_llmeval.engine.cache import COMPLETIONS, IMAGES
from pytest_llmeval.engine.completions import CompletionStore, Stock
from pytest_llmeval.engine.replay import Recorder
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records.request import content_key


def stocks(folder: Path) -> list[Stock]:
    """Return what the cache in `folder` holds of each model."""
    with _opened(folder) as store:
        return store.stocks()


def prune(folder: Path, *, older_than: float) -> int:
    """Delete replies older than so many seconds, and pictures that no other reply names; return how many replies."""
    with _opened(folder) as store:
        deleted = store.forget(time.time() - older_than)
        named = {
            Path(image.path).name for kept in store.kept() for image in kept.stored.reply.images
        }
    for picture in (folder / IMAGES).glob("*"):
        if picture.name not in named:
            picture.unlink()
    return deleted


def export(folder: Path, file: Path, *, models: Collection[str] = ()) -> int:
    """Write the replies of `models` (none named: of all) as a recording that did not exist before; return how many.

    UsageError when two models answered the same request, for a recording is looked up by what was
    asked.
    """
    if file.exists():
        msg = f"{file} exists already; name a new file"
        raise UsageError(msg)
    with _opened(folder) as store:
        # Of one model's replies to a request (at several endpoints) the newest counts.
        chosen = [kept for kept in store.kept() if not models or kept.model in models]
    answered_by: dict[str, str] = {}
    for kept in chosen:
        if (other := answered_by.setdefault(content_key(kept.content), kept.model)) != kept.model:
            msg = f"{other} and {kept.model} answered the same request; name the model to export with --model"
            raise UsageError(msg)
    with closing(Recorder(file)) as recorder:
        for kept in chosen:
            images = tuple(
                replace(image, path=str(folder / image.path)) for image in kept.stored.reply.images
            )
            recorder.add(kept.model, kept.content, replace(kept.stored.reply, images=images))
    return len(answered_by)


@contextmanager
def _opened(folder: Path) -> Iterator[CompletionStore]:
    if not (folder / COMPLETIONS).is_file():
        msg = f"{folder}: no cache here (it would hold {COMPLETIONS}); name the folder of --llmeval-cache"
        raise UsageError(msg)
    with closing(CompletionStore(folder / COMPLETIONS)) as store:
        yield store
