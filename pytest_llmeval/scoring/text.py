"""Texts made comparable: Unicode form, white space, case, punctuation."""

from __future__ import annotations

import unicodedata


def comparable(
    text: str,
    *,
    ignore_case: bool = False,
    ignore_space: bool = True,
    ignore_punctuation: bool = False,
) -> str:
    """Return the form of `text` by which two texts are compared.

    The Unicode form is NFC: an accented letter is the same in one character or two. NFKC would go
    too far, because it makes ``x²`` equal to ``x2``, and ``2½`` to ``21/2``.

    Args:
        text: any text.
        ignore_case: fold upper and lower case (``ß`` is ``ss``).
        ignore_space: make each run of white space one blank, and none at the ends.
        ignore_punctuation: leave out the characters of Unicode's categories P (also ``-`` and
            ``%``, but not ``$``, ``+`` or ``=``).
    """
    text = unicodedata.normalize("NFC", text)
    if ignore_case:
        text = unicodedata.normalize("NFC", text.casefold())
    if ignore_punctuation:
        text = "".join(sign for sign in text if not unicodedata.category(sign).startswith("P"))
    return " ".join(text.split()) if ignore_space else text
