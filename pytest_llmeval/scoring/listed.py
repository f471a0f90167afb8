"""Parts of answers in explanations: cut where they are long or many, and printable."""

from __future__ import annotations

from collections.abc import Sequence

_LISTED = 5
"""Parts that are listed in one line; the others are counted."""

_LONGEST = 60
"""Characters shown of one part."""


def changes(missing: Sequence[object], unexpected: Sequence[object]) -> str:
    """Return what an answer lacks and what it has too much, as in ``missing O1; unexpected O2``."""
    sides = (("missing", missing), ("unexpected", unexpected))
    return "; ".join(f"{word} {listed(parts)}" for word, parts in sides if parts)


def listed(parts: Sequence[object]) -> str:
    """Return the first parts, separated by commas, and how many more there are."""
    shown = [short(str(part)) for part in parts[:_LISTED]]
    more = len(parts) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def short(text: str) -> str:
    """Return a text with its middle cut out if it is long, and control characters escaped."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}…{text[-_LONGEST // 2 :]}"
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
