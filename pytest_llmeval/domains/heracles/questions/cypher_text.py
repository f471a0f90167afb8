"""Names and values as Cypher writes them, however hostile they are."""

from __future__ import annotations

import re
from typing import Final

_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_ESCAPES: Final = str.maketrans(
    {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
)


def name(text: str) -> str:
    """Return the name of a label, type or property, in backquotes if it is not a plain word."""
    return text if _PLAIN.fullmatch(text) else f"`{text.replace('`', '``')}`"


def literal(value: str | float) -> str:
    """Return a string or number as a literal."""
    return f"'{value.translate(_ESCAPES)}'" if isinstance(value, str) else repr(value)
