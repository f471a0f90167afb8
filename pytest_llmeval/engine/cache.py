"""Answers that runs leave to one another, in a folder that outlives them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pytest_llmeval.engine.completions import CompletionStore, StoredReply
from pytest_llmeval.engine.pictures import keep_picture
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Image, Reply, Request

COMPLETIONS, IMAGES = "completions.sqlite3", "images"


class Cache:
    """Replies of other runs by request and endpoint: models of one name need not be one model everywhere."""

    def __init__(
        self, folder: Path, *, max_age: float | None = None, endpoints: Mapping[str, str]
    ) -> None:
        """Keep replies in `folder`, and give those that are at most `max_age` seconds old (None: all).

        `endpoints` tells where each kind of provider is reached in this run. UsageError when the
        folder cannot be used.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            msg = f"{folder}: cannot be used as cache: {error.strerror or error}"
            raise UsageError(msg) from error
        self._folder, self._max_age, self._endpoints = folder, max_age, endpoints
        self._store = CompletionStore(folder / COMPLETIONS)

    def get(self, request: Request) -> StoredReply | None:
        """Return the reply to a request, if there is one that is young enough and its pictures are there."""
        found = self._store.get(self._key(request))
        if found is None or (
            self._max_age is not None and time.time() - found.created > self._max_age
        ):
            return None
        images = tuple(
            replace(image, path=str(self._folder / image.path)) for image in found.reply.images
        )
        if not all(Path(image.path).is_file() for image in images):
            return None
        # With its age, so that whoever stores it further does not make it younger.
        return found._replace(reply=replace(found.reply, images=images, created=found.created))

    def put(self, request: Request, reply: Reply) -> None:
        """Keep a reply with copies of its pictures."""
        images = tuple(map(self._keep, reply.images))
        self._store.put(request, replace(reply, images=images), key=self._key(request))

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def _key(self, request: Request) -> str:
        endpoint = self._endpoints.get(request.provider, "")
        return hashlib.sha256(
            f"{endpoint}\0{request.key}".encode("utf-8", "surrogatepass")
        ).hexdigest()

    def _keep(self, image: Image) -> Image:
        return replace(image, path=f"{IMAGES}/{keep_picture(image, self._folder / IMAGES).name}")
