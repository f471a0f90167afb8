"""Text from models, datasets and providers, prepared for one cell of a table."""

from __future__ import annotations

import re
import unicodedata

LIMIT = 80
"""Longest text of a cell, in characters."""

_LOOK_AT = 10_000
"""Characters that are looked at: a text may have megabytes."""

_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS, PM, APC, up to their end
    r"|\x1b[ -/]*[0-~]"  # the rest, of two characters and a little more
    r"|\x9b[0-?]*[ -/]*[@-~]",  # CSI as one character
    re.DOTALL,
)


def clean(text: str, limit: int = LIMIT) -> str:
    """Return `text` on one line of `limit` characters, without control and invisible signs."""
    looked_at = _SEQUENCES.sub("", text[:_LOOK_AT])
    spaced = " ".join("".join(map(_seen, looked_at)).split())
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
