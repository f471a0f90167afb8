"""The forms in which a line states the letter of a choice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from pytest_llmeval.scoring.retraction import dismissed


class Stated(NamedTuple):
    """A letter that is stated, as a capital, and the index behind it.

    For a letter in a box that is the index behind the box, and `rest` the box's text behind it.
    """

    letter: str
    end: int
    rest: str = ""


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
    r"(?:(?:definitely|clearly|therefore|thus|most likely|probably|likely|indeed|simply|actually"
    r"|letter|option|choice|answer|the|either|both|is|just|best)[\s:]+){0,5}" + _FORM,
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

INTRODUCTIONS: Final = frozenset(
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
        "only",
    ]
)
"""Words before a bare letter that stands for a choice; behind others it is a name ("vitamin C")."""

_JUDGED_BEHIND = INTRODUCTIONS | {"statement"}
"""Words before a bare letter that is judged."""

_CAUTIOUS = re.compile(
    r"(?:\b(?:it['’]s|it\s+(?:is|must be|should be|has to be|would be|will be|seems to be)"
    r"|that\s+must\s+be)"
    r"|\bi(?:['’]d|\s+would)?\s+(?:\w+\s+)?(?:think|believe|guess|say|suspect|suppose|reckon)"
    r"(?:\s+that)?)"
    r"[\s,]+(?:(?:definitely|clearly|therefore|thus|most likely|probably|likely|indeed|simply"
    r"|actually|letter|option|choice|the|just|best)[\s:,]+){0,4}"
    r"(?:\((?P<bracketed>[A-Za-z])\)|\[(?P<squared>[A-Za-z])\]"
    r"|(?P<bare>(?-i:[A-Z]))(?![\w'’-])(?!\s*=))",
    re.IGNORECASE,
)
"""A phrase that names a letter with caution; the article "a" does not count."""

_END = re.compile(r"[ .)]*+$")
_ALONE = re.compile(rf"\s*{_FORM}(?P<rest>(?:\)?[.:!]|\))?(?:\s.*|$)|[,;].*)")


def phrases(line: str) -> Iterator[Stated]:
    """Yield the letters that a line's phrases state as answers."""
    for match in _ANSWER.finditer(line):
        whole = match.start() == 0 and _END.match(line, match.end())
        verb = match["head"].lower() in _VERBS
        if match["link"] or verb or whole:
            yield from _with_another(line, match)
    for match in _CORRECT.finditer(line):
        word = match["before"].strip().lower()
        named = word and word[-1].isalnum() and word not in _JUDGED_BEHIND
        if not named and not dismissed(line, match.end("before")):
            yield Stated(_letter(match), match.end())


def cautious_phrases(line: str) -> Iterator[Stated]:
    """Yield the letters of a line's phrases such as "I think it's B"."""
    for match in _CAUTIOUS.finditer(line):
        yield from _with_another(line, match)


def _with_another(line: str, match: re.Match[str]) -> Iterator[Stated]:
    """Yield the letter at the end of a phrase, and a second one behind it."""
    if dismissed(line, match.start()) or line.startswith("?", match.end()):
        return
    if another := _ANOTHER.match(line, match.end()):
        yield Stated(_letter(match), match.end())
        yield Stated(another[0].rstrip()[-1].upper(), another.end())
    elif match["bare"] is None or _NEXT.match(line, match.end()):
        yield Stated(_letter(match), _end(match))


def alone(line: str) -> Iterator[Stated]:
    """Yield the letter that a line begins with, if it reads as the letter of a choice."""
    rest = _LEAD.sub("", line)
    match = _ALONE.fullmatch(rest)
    if match and match["bare"] in {"A", "a"} and match["rest"].startswith(":"):
        # "A:" may mean "Answer:"
        match = _ALONE.fullmatch(_LEAD.sub("", match["rest"][1:].strip()))
    if not match:
        return
    rest = match["rest"]
    if any(another.match(rest) for another in (_ANOTHER, _NEXT_LETTER)):
        return
    marked = bool(rest[:1].strip())
    if match["bare"] and not marked and (not _NEXT.match(rest) or rest.lstrip()[:1] == "="):
        return
    yield Stated(_letter(match), len(line) - (len(match.string) - _end(match)))


def _letter(match: re.Match[str]) -> str:
    letter: str = match["bracketed"] or match["squared"] or match["bare"]
    return letter.upper()


def _end(match: re.Match[str]) -> int:
    """Return the index behind the letter, before its closing bracket."""
    return max(match.end("bracketed"), match.end("squared"), match.end("bare"))
