r"""The letter of a choice in the last line of a model's text, which holds nothing else.

It is the form that a prompt asks for; `scoring.letters` reads the forms that models write unasked.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST_STATEMENT: Final = 200
"""Characters of a line that states a letter and nothing else."""

_MARKUP = re.compile(r"\*\*|__|\$|\\[()\[\]]|^\s*#+\s")
_FONT = re.compile(r"\\(?:text|textbf|mathrm|mathbf)\s*\{(?P<inner>[^{}]*)\}")
_BOXED_LETTER = re.compile(r"\\boxed\s*\{\s*\(?(?P<letter>[A-H])[).]?\s*\}")
_LETTER = re.compile(r"\(?(?P<letter>[A-H])[).]{0,2}")
_LINE = re.compile(
    r"(?i:(?:so|thus|therefore|hence)[\s,:]+)?(?i:the\s+)?(?i:(?:final|correct|right)\s+)?"
    r"(?i:answer|choice|option)"
    r"(?i:\s+is)?\s*:?\s*(?i:(?:choice|option)\s+)?" + _LETTER.pattern
)


def letter_of_last_line(text: str) -> str | None:
    r"""Return the letter (A to H, a capital) that the last line states as the final answer.

    The line holds the letter alone, in brackets or in a ``\boxed{}``, behind words such as "The
    answer is" or not. Several letters stated as answers, in any lines, are none.
    """
    plain = [line for line in map(_plain, text.splitlines()) if line]
    lines = [(line, _BOXED_LETTER.sub(r"\g<letter>", line)) for line in plain]
    if not lines or not (last := _stated(lines[-1][1]) or _LETTER.fullmatch(lines[-1][1])):
        return None
    stated = {found["letter"] for _, line in lines if (found := _stated(line))}
    boxed = {found["letter"] for line, _ in lines for found in _BOXED_LETTER.finditer(line)}
    return last["letter"] if stated | boxed <= {last["letter"]} else None


def _plain(line: str) -> str:
    return _MARKUP.sub("", _FONT.sub(r"\g<inner>", line)).strip()


def _stated(line: str) -> re.Match[str] | None:
    """Return the match of a line that states a letter; a long one states more than that."""
    return _LINE.fullmatch(line) if len(line) <= LONGEST_STATEMENT else None
