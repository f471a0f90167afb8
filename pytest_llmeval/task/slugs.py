"""Slugs: what a sample's id and its tags are called in test ids and keywords."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from typing import Final

MAX_LENGTH: Final = 60
"""Longer slugs are cut and told apart by a hash."""

ID_DIGITS: Final = 4
"""Integer ids are padded to so many digits, so that test ids sort like their samples."""

_OTHER = re.compile(r"[^a-z0-9]+")


def slug(text: str) -> str:
    """Return `text` in ``[a-z0-9-]``, never empty.

    Accents fall away (``é`` to ``e``). Where letters or digits are lost beyond that, the text is
    too long, or nothing is left, six digits of its hash are added, so that the slug depends on this
    text alone.
    """
    plain = "".join(
        sign
        for sign in unicodedata.normalize("NFKD", text.casefold())
        if not unicodedata.combining(sign)
    )
    body = _OTHER.sub("-", plain).strip("-")
    lost = any(sign.isalnum() and not sign.isascii() for sign in plain)
    if body and not lost and len(body) <= MAX_LENGTH:
        return body
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{body[:MAX_LENGTH].strip('-')}-{digest}".lstrip("-")


def id_slugs(ids: Sequence[str]) -> tuple[str, ...]:
    """Return a distinct slug for each of the distinct `ids`, in order.

    The first id that has a slug keeps it; later ones get ``-2``, ``-3`` and so on, passing over
    slugs that other ids have by themselves.
    """
    own = [
        text.zfill(ID_DIGITS) if text.isascii() and text.isdigit() else slug(text) for text in ids
    ]
    taken = set(own)
    numbers: dict[str, int] = {}
    result = []
    for name in own:
        number = numbers.get(name, 1)
        free = name
        while number > 1 and free in taken:
            free, number = f"{name}-{number}", number + 1
        numbers[name] = max(number, 2)
        taken.add(free)
        result.append(free)
    return tuple(result)
