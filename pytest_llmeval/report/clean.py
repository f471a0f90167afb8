"""Text from models, datasets and providers, made fit for one cell of a table."""

from __future__ import annotations

import re
import unicodedata

LIMIT = 80
"""Longest text of a cell, in characters."""

_LOOK_AT = 10_000
"""Only so much of a text is looked at: a cell may be offered megabytes."""

_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS, PM, APC: titles, links, up to their end
    r"|\x1b[ -/]*[0-~]"  # the rest, of two characters and a little more
    r"|\x9b[0-?]*[ -/]*[@-~]",  # CSI as one character
    re.DOTALL,
)


def clean(text: str, limit: int = LIMIT) -> str:
    """Return `text` on one line, without control sequences, invisible or direction-changing signs, cut to `limit`."""
    looked_at = _SEQUENCES.sub("", text[:_LOOK_AT])
    spaced = " ".join("".join(map(_seen, looked_at)).split())
    return (
        spaced
        if len(spaced) <= limit and len(text) <= _LOOK_AT
        else spaced[: limit - 1].rstrip() + "…"
    )


def _seen(character: str) -> str:
    """Return the character, a blank for any white space, nothing for what has no shape (Unicode categories C)."""
    if character.isspace():
        return " "
    return "" if unicodedata.category(character).startswith("C") else character
