"""The letter of a choice in a model's text, in the forms that models write unasked.

They write ``Answer: B. 60``, ``(b)``, "The correct answer is option C because ...". What a prompt
asks for, a last line that holds nothing but the letter, is read by `scoring.last_line_letter`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Final

from pytest_llmeval.scoring.boxes import boxes_with_ends
from pytest_llmeval.scoring.contradiction import stands, unsettled
from pytest_llmeval.scoring.letter_forms import Stated, alone, cautious_phrases, phrases
from pytest_llmeval.scoring.markup import unmarked

ALL_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_BULLET = re.compile(r"^\s*(?:[-*•>]\s+)+")
_WRAPPER = re.compile(r"</?\w{1,20}>|[\"“”„«»]|(?<!\w)'(?=\w'(?!\w))|(?<=\w)'(?!\w)")
"""Tags and quotation marks."""


def stated_letter(text: str, letters: str) -> str | None:
    """Return the one letter that a text states as its answer, as a capital.

    A full statement ("the answer is B", a box) counts over a cautious one ("it must be B") and over
    a letter that begins a line.

    Args:
        text: a letter, or a longer text.
        letters: the capitals that choices have; other letters are ignored.

    Returns:
        None for no letter, for several, and for one that is taken back or contradicted behind.
    """
    plain = _WRAPPER.sub("", unmarked(text))
    lines = [_BULLET.sub("", line).strip() for line in plain.splitlines() if line.strip()]
    plain = "\n".join(lines)
    starts = list(itertools.accumulate((len(line) + 1 for line in lines), initial=0))
    boxed = [one for one in _boxed(text) if one.letter in letters]
    full = _in_lines(phrases, lines, starts, letters)
    cautious = [] if boxed or full else _in_lines(cautious_phrases, lines, starts, letters)
    if not boxed and not full:
        cautious += _in_lines(alone, lines, starts, letters)
    stated = {one.letter for one in (*boxed, *full, *cautious)}
    if len(stated) != 1:
        return None
    (letter,) = stated
    end = max((one.end for one in (*full, *cautious)), default=0)
    rests = [plain[end:]] if full or cautious else []
    rests.extend(f"{one.rest}\n{_WRAPPER.sub('', unmarked(text[one.end :]))}" for one in boxed[-1:])
    behind = min(rests, key=len)
    listed = {one.letter for line in behind.splitlines()[1:] for one in alone(line)} & set(letters)
    if len(listed) == 1 and letter not in listed:
        return None  # several may be the choices, which are repeated
    if cautious and unsettled(plain[:end], letter, letters):
        return None
    return letter if stands(letter, behind, letters) else None


def _boxed(text: str) -> Iterator[Stated]:
    """Yield the letters in boxes."""
    for content, end in boxes_with_ends(text):
        plain = _WRAPPER.sub("", unmarked(content))
        for one in alone(plain):
            yield Stated(one.letter, end, plain[one.end :])


def _in_lines(
    reader: Callable[[str], Iterator[Stated]], lines: list[str], starts: list[int], letters: str
) -> list[Stated]:
    """Return what `reader` finds in the lines, with ends in the text that begins at `starts`."""
    return [
        Stated(one.letter, start + one.end)
        for line, start in zip(lines, starts, strict=False)
        for one in reader(line)
        if one.letter in letters
    ]
