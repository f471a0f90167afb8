"""Text from models, datasets and providers, prepared for one cell of a table."""

from __future__ import annotations

import unicodedata

from pytest_llmeval.safety.printable import SEQUENCES

LIMIT = 80
"""Longest text of a cell, in characters."""

_LOOK_AT = 10_000
"""Characters that are looked at: a text may have megabytes."""


def clean(text: str, limit: int = LIMIT) -> str:
    """Return `text` on one line of `limit` characters, without control and invisible signs."""
    looked_at = text[:_LOOK_AT]
    if not looked_at.isprintable():  # then it may hold what `_seen` changes
        looked_at = "".join(map(_seen, SEQUENCES.sub("", looked_at)))
    spaced = " ".join(looked_at.split())
    return (
        spaced
        if len(spaced) <= limit and len(text) <= _LOOK_AT
        else spaced[: limit - 1].rstrip() + "…"
    )


def _seen(character: str) -> str:
    """Return the character, a blank for white space, "" for Unicode categories C (no shape)."""
    if character.isspace():
        return " "
    return "" if unicodedata.category(character).startswith("C") else character
