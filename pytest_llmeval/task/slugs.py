"""Slugs: short forms of sample ids, tags and models for test ids and keywords."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from typing import Final

MAX_LENGTH: Final = 60
"""Characters of a slug at most; longer ones are cut, and made distinct by a hash."""

ID_DIGITS: Final = 4
"""Digits to which integer ids are padded with zeros, so that test ids sort by number."""

_OTHER = re.compile(r"[^a-z0-9]+")


def slug(text: str) -> str:
    """Return `text` reduced to ``[a-z0-9-]``; never empty.

    Accents are removed (``é`` to ``e``). If other letters or digits are lost, the result is too
    long, or nothing is left, six hex digits of the text's sha256 are appended, so that the slug
    depends on this text alone.
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

    Of ids with equal slugs the first keeps it; later ones get ``-2``, ``-3`` and so on, without
    those that are the slugs of other ids.
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
