r"""The letter of a choice in a model's text.

Two readers share one view of the text. `letter_of_last_line` takes a letter only from a last line
that holds nothing else: the form that a prompt asks for. `stated_letter` reads the forms that
models write unasked: ``Answer: B. 60``, ``(b)``, "The correct answer is option C because ...".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pytest_llmeval.scoring.boxes import boxes
from pytest_llmeval.scoring.markup import unmarked

LONGEST_STATEMENT: Final = 200
"""Characters of a line that states a letter and nothing else."""

ALL_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_MARKUP = re.compile(r"\*\*|__|\$|\\[()\[\]]|^\s*#+\s")
_FONT = re.compile(r"\\(?:text|textbf|mathrm|mathbf)\s*\{(?P<inner>[^{}]*)\}")
_BOXED_LETTER = re.compile(r"\\boxed\s*\{\s*\(?(?P<letter>[A-H])[).]?\s*\}")
_LETTER = re.compile(r"\(?(?P<letter>[A-H])[).]{0,2}")
_LINE = re.compile(
    r"(?i:(?:so|thus|therefore|hence)[\s,:]+)?(?i:the\s+)?(?i:(?:final|correct|right)\s+)?"
    r"(?i:answer|choice|option)"
    r"(?i:\s+is)?\s*:?\s*(?i:(?:choice|option)\s+)?" + _LETTER.pattern
)

_BULLET = re.compile(r"^\s*(?:[-*•>]\s+)+")
_WRAPPER = re.compile(r"</?\w{1,20}>|[\"“”„«»]|(?<!\w)'(?=\w'(?!\w))|(?<=\w)'(?!\w)")
"""Tags and quotation marks."""

_FORM = r"(?:\((?P<bracketed>[A-Za-z])\)|\[(?P<squared>[A-Za-z])\]|(?P<bare>[A-Za-z])(?![\w'’-]))"
"""A letter in brackets, or bare and no part of a word."""

_NEXT = re.compile(
    r"\s*(?:$|[).,;:!*\]}]|[-–—=]|\((?!\w\))|\s(?=\d|[^\w\s])"
    r"|\s(?:because|since|as|with|which|where|based|given|not|rather|instead)\b)",
    re.IGNORECASE,
)
"""What may follow the letter of an answer; other words may not, as in "a triangle"."""

_ANOTHER = re.compile(
    r"\s*[).\]]?\s*(?:or|and|nor|[&/,+])\s*(?:(?:option|choice)\s+)?[(\[]?[A-Za-z](?![\w'’])",
    re.IGNORECASE,
)
"""A second letter behind the first: such an answer is none."""

_NEXT_LETTER = re.compile(r"[).\]:;]?\s*[(\[]?[A-Za-z](?:[).\],;]|\s*$)")

_BE = r"(?:is|would be|must be|should be)"
_ANSWER = re.compile(
    r"\b(?P<head>answer|ans\.?|solution|response|statement|choice|option"
    r"|select|choose|pick|picking|going with|go with)"
    r"(?:\s+(?:to|for)\s+(?:this|the)\s+\w+(?:\s+\w+)??)?"
    rf"(?P<link>\s+{_BE}(?:\s*:)?|\s*[:=])?\s*"
    r"(?:(?:definitely|clearly|therefore|thus|most likely|probably|likely|indeed|simply|letter"
    r"|option|choice|answer|the|either|both|is|just|best)[\s:]+){0,5}" + _FORM,
    re.IGNORECASE,
)
"""A phrase that names a letter as the answer."""

_VERBS = frozenset({"select", "choose", "pick", "picking", "going with", "go with", "ans", "ans."})
"""Heads that need no link such as "is" or a colon."""

_LEAD = re.compile(
    r"^(?:(?:so|thus|therefore|hence|it['’]?s|it is|definitely|clearly|probably)[,:]?\s+"
    r"|;\s*|=+>\s*)+",
    re.IGNORECASE,
)
"""What may stand before a letter that is a whole line."""

_CORRECT = re.compile(
    r"(?P<before>(?<![\w'’])[\w'’]++\s++|[^\w\s]\s*+|^\s*+)"
    + _FORM
    + rf"\s+(?:{_BE}|seems)\s+(?:(?:clearly|therefore|indeed|thus|the|only)\s+)*"
    r"(?:correct|right|best|true|answer)\b(?!\s*(?:if|only))",
    re.IGNORECASE,
)
"""A phrase that judges a letter."""

_INTRODUCTION = frozenset(
    [
        "option",
        "choice",
        "answer",
        "letter",
        "that",
        "so",
        "therefore",
        "thus",
        "hence",
        "think",
        "believe",
        "statement",
        "only",
    ]
)
"""Words before a bare letter that is judged; behind others it belongs to a name ("vitamin C")."""

_END = re.compile(r"[ .)]*+$")
_ALONE = re.compile(rf"\s*{_FORM}(?P<rest>[).:!]?(?:\s.*|$)|[,;].*)")


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


def stated_letter(text: str, letters: str) -> str | None:
    """Return the one letter that a text states as its answer, as a capital.

    Args:
        text: a letter, or a longer text.
        letters: the capitals that choices have; other letters are ignored.

    Returns:
        None for no letter and for several.
    """
    plain = _WRAPPER.sub("", unmarked(text))
    lines = [_BULLET.sub("", line).strip() for line in plain.splitlines() if line.strip()]
    boxed = (_alone(_WRAPPER.sub("", unmarked(content))) for content in boxes(text))
    found = {letter for letter in boxed if letter}
    found.update(letter for line in lines for letter in _phrases(line))
    if not found & set(letters):
        found = {letter for line in lines if (letter := _alone(line))}
    stated = found & set(letters)
    return stated.pop() if len(stated) == 1 else None


def _plain(line: str) -> str:
    return _MARKUP.sub("", _FONT.sub(r"\g<inner>", line)).strip()


def _stated(line: str) -> re.Match[str] | None:
    """Return the match of a line that states a letter; a long one states more than that."""
    return _LINE.fullmatch(line) if len(line) <= LONGEST_STATEMENT else None


def _phrases(line: str) -> Iterator[str]:
    """Yield the letters that a line's phrases state as answers."""
    for match in _ANSWER.finditer(line):
        whole = match.start() == 0 and _END.match(line, match.end())
        verb = match["head"].lower() in _VERBS
        if not (match["link"] or verb or whole):
            continue
        if another := _ANOTHER.match(line, match.end()):
            yield from (_letter(match), another[0].rstrip()[-1].upper())
        elif match["bare"] is None or _NEXT.match(line, match.end()):
            yield _letter(match)
    for match in _CORRECT.finditer(line):
        word = match["before"].strip().lower()
        if not word or not word[-1].isalnum() or word in _INTRODUCTION:
            yield _letter(match)


def _alone(line: str) -> str | None:
    """Return the letter that a line begins with, if it reads as the letter of a choice."""
    line = _LEAD.sub("", line)
    match = _ALONE.fullmatch(line)
    if not match:
        return None
    rest = match["rest"]
    if match["bare"] and rest.startswith(":") and match["bare"] in "Aa":
        return _alone(rest[1:].strip())  # "A:" may mean "Answer:"
    if any(another.match(rest) for another in (_ANOTHER, _NEXT_LETTER)):
        return None
    marked = bool(rest[:1].strip())
    if match["bare"] and not marked and (not _NEXT.match(rest) or rest.lstrip()[:1] == "="):
        return None
    return _letter(match)


def _letter(match: re.Match[str]) -> str:
    letter: str = match["bracketed"] or match["squared"] or match["bare"]
    return letter.upper()
