"""Reading of the pictures in a reply: those that are usable are stored, the others described.

A reply whose picture is broken came whole and is paid, and asking again would bring the like of it:
it is no failure of the call.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Final, NamedTuple

from pytest_llmeval.engine.ports import ImageStore
from pytest_llmeval.records import Image
from pytest_llmeval.records.message import MAX_PICTURE_BYTES

_MOST_CHARACTERS: Final = MAX_PICTURE_BYTES * 4 // 3
"""Base64 characters of the largest picture."""

_LINK: Final = (
    'a picture came as a link, not as data (image parameters may need response_format: "b64_json")'
)


class ReplyPictures(NamedTuple):
    """The pictures of a reply that were kept, and for each other one why it could not be."""

    kept: tuple[Image, ...]
    problems: tuple[str, ...]


def reply_pictures(parts: Iterable[object], store: ImageStore) -> ReplyPictures:
    """Keep the pictures that the parts of a reply hold.

    Args:
        parts: objects with `b64_json`, `image_url` (a text, or an object with `url`) or `url`; the
            address is a data URL or base64.
        store: keeps them. Only their first bytes are looked at, nothing is decoded.
    """
    kept, problems = [], []
    for part in parts:
        try:
            kept.append(store.save(_data(_source(part))))
        except ValueError as error:
            problems.append(str(error))
    return ReplyPictures(tuple(kept), tuple(problems))


def _source(part: object) -> str:
    """Return a picture's base64 text or URL, from the shapes in which servers send it."""
    found = part if isinstance(part, dict) else {}
    url = found.get("image_url", found.get("url"))
    source = found.get("b64_json") or (url.get("url") if isinstance(url, dict) else url)
    if not isinstance(source, str) or not source:
        msg = "a picture holds neither b64_json nor a URL"
        raise ValueError(msg)
    return source


def _data(source: str) -> bytes:
    """Return a picture's bytes; ValueError if its source holds none, or too many."""
    if source.startswith(("http:", "https:")):
        # Addresses in replies are never fetched.
        raise ValueError(_LINK)
    if len(source) > _MOST_CHARACTERS:
        msg = f"a picture has {len(source):,} characters, more than {_MOST_CHARACTERS:,}"
        raise ValueError(msg)
    text = source.partition("base64,")[2] if source.startswith("data:") else source
    try:
        return base64.b64decode(text)
    except ValueError as error:
        msg = f"a picture is no base64: {error}"
        raise ValueError(msg) from error
