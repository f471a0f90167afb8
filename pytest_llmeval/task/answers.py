"""Find the answer in a model's text, by the rule that a task names.

Linear in the text, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

_BRACE = re.compile(r"(?P<box>\\\\?boxed\s*+\{)|\\.|[{}]", re.DOTALL)
"""A box's head (also with its backslash doubled, as models that think in JSON write it), an escaped
sign, a brace."""

_TAG = re.compile(r"<(/?)answer\s*+>", re.IGNORECASE)

LONGEST_STATEMENT: Final = 200
"""Characters of a line that states a letter and nothing else."""

_MARKUP = re.compile(r"\*\*|__|\$|\\[()\[\]]|^\s*#+\s")
_FONT = re.compile(r"\\(?:text|textbf|mathrm|mathbf)\s*\{(?P<inner>[^{}]*)\}")
_BOXED_LETTER = re.compile(r"\\boxed\s*\{\s*\(?(?P<letter>[A-H])[).]?\s*\}")
_LETTER = re.compile(r"\(?(?P<letter>[A-H])[).]{0,2}")
_STATED = re.compile(
    r"(?i:(?:so|thus|therefore|hence)[\s,:]+)?(?i:the\s+)?(?i:(?:final|correct|right)\s+)?(?i:answer|choice|option)"
    r"(?i:\s+is)?\s*:?\s*(?i:(?:choice|option)\s+)?" + _LETTER.pattern
)


def boxed_first(text: str) -> str | None:
    r"""Return the content of the first ``\boxed{}``, which is what PHYBench's maintainers take.

    Empty boxes are passed over: a model that repeats its instructions writes one. A box inside a
    box counts only as a part of the outer one, and is unwrapped when it is all that the outer one
    holds.
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


def choice(text: str) -> str | None:
    r"""Return the letter (A to H, a capital) that the last line states as the final answer.

    The line holds the letter alone, in brackets or in a ``\boxed{}``, behind words such as "The
    answer is" or not. A letter anywhere else is none: words begin with letters. Several letters
    stated as answers, in any lines, are none.
    """
    plain = (
        _MARKUP.sub("", _FONT.sub(r"\g<inner>", line)).strip()
        for line in text.splitlines()
        if line.strip()
    )
    lines = [(line, _BOXED_LETTER.sub(r"\g<letter>", line)) for line in plain]
    if not lines or not (last := _stated(lines[-1][1]) or _LETTER.fullmatch(lines[-1][1])):
        return None
    stated = {found["letter"] for _, line in lines if (found := _stated(line))}
    boxed = {found["letter"] for line, _ in lines for found in _BOXED_LETTER.finditer(line)}
    return last["letter"] if stated | boxed <= {last["letter"]} else None


def _stated(line: str) -> re.Match[str] | None:
    """Return the match of a line that states a letter; a long one states more than that."""
    return _STATED.fullmatch(line) if len(line) <= LONGEST_STATEMENT else None


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
                closed.append(
                    (head, match.end(), _content(text, slice(start, match.start()), closed))
                )
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
    "choice": choice,
    "whole": whole,
}
"""The rules by the names that task files give them; each returns None when the text holds no answer
in its form."""
