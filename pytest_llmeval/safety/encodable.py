"""Texts in the signs that a stream can write: in a locale without UTF-8 others have ASCII forms."""

from __future__ import annotations

import os
from typing import Final, TextIO

_FORMS: Final = {
    "─": "-",
    "–": "-",
    "—": "-",
    "−": "-",
    "‐": "-",
    "‑": "-",
    "·": "|",
    "…": "...",
    "×": "x",
    "±": "+-",
    "≥": ">=",
    "≤": "<=",
    "→": "->",
    "✓": "yes",
    "✗": "no",
    "κ": "kappa",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "\xa0": " ",
    "\u202f": " ",
}
"""What stands for the signs that our own texts use."""


def encodable(text: str, encoding: str) -> str:
    r"""Return `text` with ASCII forms, or else escapes, of what `encoding` does not have.

    Example:
        >>> encodable("0.3–0.5 · 2 × …", "ascii")
        '0.3-0.5 | 2 x ...'
        >>> encodable("0.3–0.5 · 2 × …", "latin-1")
        '0.3-0.5 · 2 × ...'
        >>> encodable("漢", "ascii")
        '\\u6f22'
    """
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_form(sign, encoding) for sign in text)
    return text


def encoding_of(stream: TextIO) -> str:
    """Return the encoding in which texts reach a stream: of its own, or ``ascii``.

    ``LC_ALL=C`` is taken at its word, although Python then writes UTF-8 unless told otherwise: who
    sets it looks at a terminal that shows no more.
    """
    told = os.environ.get("PYTHONIOENCODING") or os.environ.get("PYTHONUTF8")
    if os.environ.get("LC_ALL") in {"C", "POSIX"} and not told:
        return "ascii"
    return getattr(stream, "encoding", None) or "utf-8"


def _form(sign: str, encoding: str) -> str:
    try:
        sign.encode(encoding)
    except UnicodeEncodeError:
        return _FORMS.get(sign) or sign.encode(encoding, "backslashreplace").decode(encoding)
    return sign
