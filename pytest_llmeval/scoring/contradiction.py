"""Whether the text behind a stated letter takes it back or favours another letter."""

from __future__ import annotations

import re
from typing import Final

from pytest_llmeval.scoring.letter_forms import INTRODUCTIONS
from pytest_llmeval.scoring.retraction import (
    CLAUSE,
    REJECTION,
    collapsed,
    dismissed,
    taken_back,
)

_LETTER: Final = (
    r"(?:\((?P<bracketed>[A-Za-z])\)|\[(?P<squared>[A-Za-z])\]"
    r"|(?<![\w'’])(?P<bare>(?-i:[B-HJ-Z](?![\w'’-])"
    r"|[AI](?=[).\]]*\s*(?:$|[^\w\s'’-])|\s+(?:or|instead|because|since|after|then|but|is|fits"
    r"|works|seems|makes|also|would|could|might)\b))))"
)
"""A letter in brackets or a capital; the article and the pronoun are passed over."""

_HEDGE = (
    r"(?:also|maybe|perhaps|possibly|probably|likely|most|even|really|actually|definitely|clearly"
    r"|instead|rather|simply|just|either|the|letter|option|choice|answer|more|to|with|for|towards?"
    r"|like|it['’]s|it)\b[\s:,]{1,3}"
)
_FAVOUR = re.compile(
    r"(?:\b(?:it|that|this|one|correct|right)(?:['’]s|\s+(?:is|was|seems|looks))"
    r"|\b(?:must|should|could|might|may|can|would|will|to|has to|ought to)\s+(?:(?:also|still|well"
    r"|actually|really|only)\s+)?be"
    r"|\b(?:no|wait|actually|maybe|perhaps|possibly|probably|think|believe|guess|suspect|prefer|say"
    r"|make it|lean|leaning|favou?r|(?:switch|chang)(?:e|ed|ing)?(?: my answer| it| that)? to"
    r"|go for|correction|edit|update|(?:but|and) also|(?:or|and|and/or)\s+(?:also|maybe|perhaps"
    r"|possibly|probably|likely|even|rather|else|actually|instead))"
    rf"|{CLAUSE}(?:or|rather|then|so|correctly))"
    rf"\b[\s:,.…]{{1,3}}(?:{_HEDGE}){{0,5}}{_LETTER}",
    re.IGNORECASE,
)
"""A phrase that leads to a letter: "it must be D", "or maybe D"."""

_FAVOURED = re.compile(
    r"(?P<before>(?<![\w'’])[\w'’]++\s++|[^\w\s]\s*+|^\s*+)"
    + _LETTER
    + r"\s+(?:(?:also|actually|really|probably|clearly|perhaps|maybe|then|just)\s+){0,2}"
    r"(?:instead\b(?!\s+of)|too\b|as well\b|better\b|(?:fits?|works?|match(?:es)?|suits?)\b"
    r"|(?:is|seems|looks|sounds|feels|would be|could be|might be|may be|must be|should be|has to be"
    r"|makes)\s+(?:(?:also|actually|really|probably|clearly|perhaps|just|a|the|even|much|far|to be)"
    r"\s+){0,3}(?:better|best|more|close(?:r|st)|stronge(?:r|st)|right|correct|true|plausible"
    r"|possible|valid|likel(?:y|ier)|answer|one|it\b|sense|good|preferable|safer))",
    re.IGNORECASE,
)
"""A phrase that speaks for a letter: "D fits better"."""

_FAVOURED_BEHIND: Final = INTRODUCTIONS.union(
    [
        "or",
        "but",
        "and",
        "maybe",
        "perhaps",
        "though",
        "although",
        "while",
        "because",
        "since",
        "hmm",
        "no",
        "wait",
        "actually",
        "now",
    ]
)
"""Words before a bare letter that is favoured."""

_CLAUSE_OF_ITS_OWN = re.compile(
    rf"[.!?…;>][ ]{{0,4}}{_LETTER}(?:[.!?…)]|[ ]*$)"
    rf"|\n{_LETTER.replace('?P<', '?P<line_')}[).!?…]{{0,3}}(?:$|(?=\n))",
    re.IGNORECASE,
)
"""A letter that is a clause or a line."""

_OWN_TEXT = re.compile(r"\s*[).\]:]\s*\S|\s+\(")
"""The text of the choice begins: "B) 60", "B: 60", "B (60)"."""

_NEXT_TO_IT = re.compile(r"[\s?!.…)\]]*(?:\((?P<bracketed>[A-Za-z])\)|\[(?P<squared>[A-Za-z])\])")
_SENTENCE_END = re.compile(
    r"[.!?…](?=\s|$)|\n|\b(?:because|since|as|given|which|where|with|based|not|rather than"
    r"|instead of|over|unlike|than|while|whereas|though|although|even)\b",
    re.IGNORECASE,
)
_SECOND = re.compile(
    r"(?:[,;(/&|+~–-]|\b(?:or|and|nor|maybe|perhaps|then|option|choice|letter|but|also|possibly"
    rf"|even|plus|no|to|versus|vs\.?)\b)\s{{0,3}}(?:{_HEDGE}){{0,3}}{_LETTER}",
    re.IGNORECASE,
)
"""A second letter in the sentence that states the first."""

_NO_AS_CHOICE = re.compile(
    r"\s*[)\]:]\s*no\b|\s*\.\s*no\b(?=\s*\.?\s*$|,?\s+(?:because|since|as|if|unless|only|but only"
    r"|even|provided)\b)",
    re.IGNORECASE,
)
"""The text of a choice that begins with "No", as in "C. No, because ..."."""

_MENTION = re.compile(
    rf"\b(?:options?|choices?|answers?|statements?)\s+(?P<listed>(?-i:[A-Z]))\b|{_LETTER}",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    rf"\b(?:that|this|it|which|(?:the|my|this|that)\s+(?:answer|choice|option)){REJECTION}",
    re.IGNORECASE,
)
_BY_ITSELF = re.compile(
    rf"(?:^|[.!?…;\n]\s?)(?:(?:option|choice|answer|letter)\s)?{_LETTER}[)\]]?[.!?…,]",
    re.IGNORECASE,
)
"""A letter that is a sentence before a cautious statement: "Option A. It must be B."."""

_CALLED_WRONG = re.compile(REJECTION, re.IGNORECASE)
_LABELLED_WRONG = re.compile(
    r"\s*[(,;-]\s*(?:but\s+)?(?:is\s+)?(?:wrong|incorrect|mistaken|not\s+(?:correct|right))\b",
    re.IGNORECASE,
)


def stands(letter: str, behind: str, letters: str) -> bool:
    """Whether a stated letter is the only one that a text names as its answer.

    Letters that are only discussed behind it are passed over: "A is too small".

    Args:
        letter: the stated letter, a capital.
        behind: the text behind the letter, without mark-up, with the letter's closing bracket.
        letters: the capitals that choices have.
    """
    behind = collapsed(behind)
    own = _NO_AS_CHOICE.match(behind)
    if (
        taken_back(behind[own.end() :] if own else behind)
        or _LABELLED_WRONG.match(behind)
        or _refuted(letter, behind)
    ):
        return False
    return not any(other != letter and other in letters for other in _favoured(behind))


def unsettled(before: str, letter: str, letters: str) -> bool:
    """Whether another letter stands, alone or taken back, before a cautious statement."""
    before = collapsed(before)
    allowed = set(letters) - {letter}
    if allowed.intersection(map(_named, _BY_ITSELF.finditer(before))):
        return True
    others = {one["listed"] or _named(one) for one in _MENTION.finditer(before)}
    return bool(allowed & others) and taken_back(before)


def _refuted(letter: str, behind: str) -> bool:
    """Whether the letter, or a pronoun that stands for it, is called wrong."""
    own = rf"(?<![\w'’])(?:{letter}|\({letter}\)|\[{letter}\]){REJECTION}"
    if re.search(own, behind, re.IGNORECASE if letter not in "AI" else re.NOFLAG):
        return True
    pronoun = _PRONOUN.search(behind)
    return pronoun is not None and not any(
        (other["listed"] or _named(other)) != letter and not dismissed(behind, _start(other))
        for other in _MENTION.finditer(behind, 0, pronoun.start())
    )


def _favoured(behind: str) -> list[str]:
    """Return the letters behind a statement that are named as answers too."""
    found = [one for one in (_NEXT_TO_IT.match(behind),) if one]
    for one in _FAVOUR.finditer(behind):
        refuted = _CALLED_WRONG.match(behind, one.end())
        if not refuted and not dismissed(behind, _start(one)):
            found.append(one)
    for one in _FAVOURED.finditer(behind):
        word = one["before"].strip().lower()
        if not word or not word[-1].isalnum() or word in _FAVOURED_BEHIND:
            found.append(one)
    letters = [_named(one) for one in found]
    for one in _CLAUSE_OF_ITS_OWN.finditer(behind):
        line = one["line_bracketed"] or one["line_squared"] or one["line_bare"]
        letters.append(line.upper() if line else _named(one))
    if not _OWN_TEXT.match(behind):
        end = _SENTENCE_END.search(behind)
        sentence = behind[: end.start()] if end else behind
        letters.extend(map(_named, _SECOND.finditer(sentence)))
    return letters


def _named(match: re.Match[str]) -> str:
    groups = match.groupdict()
    letter: str = match["bracketed"] or match["squared"] or groups["bare"]
    return letter.upper()


def _start(match: re.Match[str]) -> int:
    """Return the index of the match's letter."""
    return max(map(match.start, match.groupdict()))
