r"""The contents of LaTeX boxes, ``\boxed{...}``, in a model's text. Linear in the text."""

from __future__ import annotations

import re

_BRACE = re.compile(r"(?P<box>\\\\?boxed\s*+\{)|\\.|[{}]", re.DOTALL)
"""A box's head (also with its backslash doubled, as models that think in JSON write it), an escaped
sign, a brace."""


def boxes(text: str) -> list[str]:
    """Return the contents of all closed, outermost, non-empty boxes, in order.

    A box inside a box counts only as a part of the outer one, and is unwrapped when it is all that
    the outer one holds.
    """
    return [content for content, _ in boxes_with_ends(text)]


def boxes_with_ends(text: str) -> list[tuple[str, int]]:
    """Return the content of each box, as `boxes` does, and the index behind its closing brace."""
    opened: list[tuple[bool, int, int]] = []
    closed: list[tuple[int, int, slice]] = []  # head, end and content of each box
    for match in _BRACE.finditer(text):
        if match["box"] or match[0] == "{":
            opened.append((bool(match["box"]), match.start(), match.end()))
        elif match[0] == "}" and opened:
            is_box, head, start = opened.pop()
            if is_box:
                content = _content(text, slice(start, match.start()), closed)
                closed.append((head, match.end(), content))
    found = ((text[content].strip(), end) for _, end, content in closed)
    return [(content, end) for content, end in found if content]


def _content(text: str, content: slice, closed: list[tuple[int, int, slice]]) -> slice:
    """Take the boxes inside `content` off `closed`.

    Returns:
        The content of the one box that fills `content`, else `content` itself.
    """
    inner: list[tuple[int, int, slice]] = []
    while closed and closed[-1][0] >= content.start:
        inner.append(closed.pop())
    if len(inner) == 1:
        head, end, innermost = inner[0]
        if not text[content.start : head].strip() and not text[end : content.stop].strip():
            return innermost
    return content
