"""Replies in a folder: a reply store and its pictures."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from pytest_llmeval.engine.replies.pictures import keep_picture
from pytest_llmeval.engine.replies.store import IMAGES, REPLIES, ReplyStore
from pytest_llmeval.engine.replies.stored_reply import StoredReply
from pytest_llmeval.records import Image, Request


class ReplyFolder:
    """A folder of replies, or the folder of a run, as source and as keeper.

    A reply is found by the whole request: provider, model, route and content, and by the endpoint,
    because one model name may stand for different models at two addresses.
    """

    def __init__(
        self,
        folder: Path,
        *,
        endpoints: Mapping[str, str],
        max_age: float | None = None,
        any_endpoint: bool = False,
    ) -> None:
        """Open the store in an existing folder, or make one there.

        Args:
            folder: the folder.
            endpoints: address of each kind of provider by the environment, "" for its default.
            max_age: age of the replies that are found, at most (s); None for any.
            any_endpoint: whether replies from other endpoints are found too.

        Raises:
            UsageError: the store there cannot be used.
        """
        self._folder, self._endpoints = folder, endpoints
        self._max_age, self._any_endpoint = max_age, any_endpoint
        self._store = ReplyStore(folder / REPLIES)

    def find(self, request: Request) -> StoredReply | None:
        """Return the reply to a request if it is young enough and its pictures are there."""
        endpoint = None if self._any_endpoint else self._endpoints.get(request.provider, "")
        found = self._store.get(request.key, endpoint)
        if found is None or is_older(found, self._max_age):
            return None
        found = located(found, self._folder)
        return found if all(Path(image.path).is_file() for image in found.images) else None

    def keep(self, stored: StoredReply, *, live: bool) -> None:
        """Store a live reply; others are left out, for where they came from is not known here."""
        if live:
            self.put(stored)

    def put(self, stored: StoredReply) -> None:
        """Store a reply with copies of its pictures."""
        images = tuple(map(self._copied, stored.images))
        self._store.put(stored.request_key, stored.with_images(images))

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def _copied(self, image: Image) -> Image:
        return replace(image, path=f"{IMAGES}/{keep_picture(image, self._folder / IMAGES).name}")


def is_older(stored: StoredReply, max_age: float | None) -> bool:
    """Return whether a reply is older than `max_age` seconds; one without a date is."""
    return max_age is not None and time.time() - stored.created > max_age


def located(stored: StoredReply, folder: Path) -> StoredReply:
    """Return a reply from the store in `folder` with its pictures at absolute paths.

    Pictures of a run that was moved are looked for in its folder of pictures.
    """

    def found(image: Image) -> Image:
        path = folder / image.path
        moved = folder / IMAGES / path.name
        return replace(image, path=str(path if path.is_file() else moved))

    return stored.with_images(tuple(map(found, stored.images)))
