"""Find the answer in a model's text, by the rule that a task names. Linear in the text, whatever it holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

_BRACE = re.compile(r"(?P<box>\\\\?boxed\s*+\{)|\\.|[{}]", re.DOTALL)
"""A box's head (also with its backslash doubled, as models that think in JSON write it), an escaped sign, a brace."""

_TAG = re.compile(r"<(/?)answer\s*+>", re.IGNORECASE)


def extract_answer(how: str, text: str) -> str | None:
    r"""Return the answer in `text` by the rule `how`, one of `RULES`; None when the text holds none in that form.

    ``boxed_first``, ``boxed_last``: what is in the first or last ``\boxed{}``, braces matched; ``tagged``: in the
    last ``<answer>`` pair; ``last_line``: the last line that is not blank; ``whole``: everything.
    """
    return RULES[how](text)


def boxed_first(text: str) -> str | None:
    r"""Return the content of the first ``\boxed{}``, which is what PHYBench's maintainers take.

    Empty boxes are passed over: a model that repeats its instructions writes one. A box inside a box counts only
    as a part of the outer one, and is unwrapped when it is all that the outer one holds.
    """
    return next(iter(_boxes(text)), None)


def boxed_last(text: str) -> str | None:
    r"""Return the content of the last ``\boxed{}``, by the same rules."""
    return next(reversed(_boxes(text)), None)


def tagged(text: str) -> str | None:
    """Return what stands between the last ``<answer>`` that is closed and its ``</answer>``."""
    answer, start = None, None
    for tag in _TAG.finditer(text):
        if not tag[1]:
            start = tag.end()
        elif start is not None:
            answer, start = (start, tag.start()), None
    return None if answer is None else text[slice(*answer)].strip()


def last_line(text: str) -> str | None:
    """Return the last line that is not blank."""
    return text.rstrip().rpartition("\n")[2].strip() or None


def whole(text: str) -> str | None:
    """Return the text without the blanks around it."""
    return text.strip() or None


def _boxes(text: str) -> list[str]:
    """Return the contents of all closed, outermost, non-empty boxes, in order."""
    opened: list[tuple[bool, int, int]] = []
    closed: list[tuple[int, int, slice]] = []  # head, end and content of each box
    for match in _BRACE.finditer(text):
        if match["box"] or match[0] == "{":
            opened.append((bool(match["box"]), match.start(), match.end()))
        elif match[0] == "}" and opened:
            is_box, head, start = opened.pop()
            if is_box:
                closed.append((head, match.end(), _content(text, slice(start, match.start()), closed)))
    contents = (text[content].strip() for _, _, content in closed)
    return [content for content in contents if content]


def _content(text: str, content: slice, closed: list[tuple[int, int, slice]]) -> slice:
    """Take the boxes inside `content` off `closed`; return the content of one that fills it, else `content` itself."""
    inner: list[tuple[int, int, slice]] = []
    while closed and closed[-1][0] >= content.start:
        inner.append(closed.pop())
    if len(inner) == 1:
        head, end, innermost = inner[0]
        if not text[content.start : head].strip() and not text[end : content.stop].strip():
            return innermost
    return content


RULES: Final[Mapping[str, Callable[[str], str | None]]] = {
    "boxed_first": boxed_first,
    "boxed_last": boxed_last,
    "tagged": tagged,
    "last_line": last_line,
    "whole": whole,
}
"""The rules by the names that task files give them."""
