r"""Words by which a text takes back what it states: "no, wait", "scratch that", "that is wrong".

Shared by the readers of numbers and of letters.
"""

from __future__ import annotations

import re
from typing import Final

CLAUSE: Final = (
    r"(?:^|[.,;:!?…()\n>-])\s{0,4}"
    r"(?:(?:but|and|or|oh|ah|uh|um|so|well|okay|ok|yet)\b[\s,.…]{1,4}){0,3}"
)
"""The start of a clause, with the words that may open a correction."""

_RETRACTION = re.compile(
    CLAUSE + r"(?:(?:nope|nah|not quite)\b"
    r"|no\b(?=\s*(?:$|[^\w\s])|\s+(?:wait|sorry|actually|it|that|this|i|my|hold|scratch|rather"
    r"|maybe|the answer)\b)"
    r"|wait\b(?=\s*(?:$|[^\w\s])|\s+(?:no|that|this|actually|it|let|maybe|the|but|if|what|there"
    r"|a (?:second|minute|moment)|[a-z])\b)"
    r"|actually\b(?=\s*,|\s+\w)|rather\b(?!\s+than)|instead\b(?!\s+of)"
    r"|correction\b(?=\s*[^\w\s])|(?:edit|update)\s*:)"
    r"|\b(?:(?:scratch|strike) that|on second thoughts?|on reflection|hold on|my mistake|my bad"
    r"|i(?: was| am|['’]m) (?:wrong|mistaken)|i (?:misread|misspoke|miscounted|miscalculated)"
    r"|i (?:take (?:that|it) back|mean|meant)|i(?:['’]d| would) rather"
    r"|i(?:['’]ve| have)? made an? (?:\w+ )?(?:mistake|error|slip)"
    r"|chang(?:e|ed|ing) my (?:mind|answer)|or rather|no,? wait|wait,? (?:no|actually)"
    r"|let me (?:reconsider|re-?think|re-?do|re-?calculate|re-?compute|re-?evaluate|re-?examine"
    r"|re-?read|restart|revise|correct|fix|change|start over|think again|try again)"
    r"|hmm+|oops|whoops|sorry|apologi[sz]e|apologies)\b",
    re.IGNORECASE,
)

_ADVERBS = (
    r"(?:\s+(?:actually|clearly|obviously|definitely|certainly|probably|likely|possibly|also|just"
    r"|simply|completely|totally|entirely|quite|therefore|then|in fact|of course)){0,3}"
)
_WRONG = (
    r"(?:wrong|incorrect|mistaken|invalid|impossible|erroneous|inaccurate|untrue|nonsense"
    r"|(?:an? |my )?(?:mistake|error|miscalculation)|ruled out|rejected|excluded|discarded"
    r"|extraneous)\b"
)
_RIGHT = (
    r"(?:correct|right|true|valid|accurate|possible|it|(?:the|an?|my|our)\s+(?:\w+\s+){0,2}"
    r"(?:answer|solution|result|value|choice|option|one))\b"
)
_BE = (
    r"(?:['’]s|\s+(?:is|are|was|were|seems?(?: to be)?|looks?|appears?(?: to be)?"
    r"|turn(?:s|ed) out(?: to be)?|(?:would|will|must|might|may|could|can|should|has to)"
    r"(?: have)? be(?:en)?))"
)
_NOT = (
    r"(?:(?:['’]s|\s+(?:is|are|was|were|does|do|did|will|would|can|could|should|must))"
    rf"{_ADVERBS}\s+not"
    r"|\s+(?:is|are|was|were|does|do|did|wo|would|ca|could|should)n['’]t|\s+cannot"
    r"|\s+(?:can|could)\s+never)"
)
REJECTION: Final = (
    rf"(?:{_BE}{_ADVERBS}\s+(?:{_WRONG}|false\b)"
    rf"|{_NOT}{_ADVERBS}(?:\s+(?:be|seem|look|have been))?{_ADVERBS}\s+{_RIGHT}"
    rf"|{_NOT}{_ADVERBS}\s+(?:work|fit|match|make sense|follow|hold|satisfy|add up)\b"
    rf"|{_NOT}{_ADVERBS}\s+be(?=\s*(?:$|[^\w\s]))"
    r"|\s+fails\b)"
)
"""A predicate that rejects its subject: "is wrong", "isn't the right answer", "does not fit"."""

_REJECTED = re.compile(
    rf"{REJECTION}|[✗✘❌]"
    rf"|(?:^|[,;:!?…(-])\s{{0,4}}(?:but\s+)?(?:not\s+(?:correct|right)\b|{_WRONG})",
    re.IGNORECASE,
)

_DISMISSAL = re.compile(
    r"(?:(?:\b(?:not|never|cannot|neither|nor)|n['’]t|(?<!no )\bdoubt)\b"
    r"(?:(?!\b(?:so|thus|therefore|hence|but|then)\b)[^.,;:!?\n])*"
    r"|\b(?:if|suppose|assume|assuming|supposing|whether|unless|why would|why is)\s+(?:that\s+)?"
    r"(?:(?:the|my|our|your|its|we|you|i|it|final|correct|right|best|option|choice|answer)\s+"
    r"){0,4})$",
    re.IGNORECASE,
)

_BEFORE: Final = 60
"""Characters before a statement that are looked at."""


def collapsed(text: str) -> str:
    """Return `text` with one blank or line break for each run of white space.

    The expressions of this module repeat white space, and would take quadratic time on long runs.
    """
    return re.sub(r"\s*\n\s*", "\n", re.sub(r"[^\S\n]+", " ", text))


def taken_back(behind: str) -> bool:
    """Whether the text behind a statement, collapsed, opens a retraction or a correction."""
    return _RETRACTION.search(behind) is not None


def rejected(behind: str) -> bool:
    """Whether the text behind a statement, collapsed, calls anything wrong."""
    return _REJECTED.search(behind) is not None


def dismissed(text: str, start: int) -> bool:
    """Whether the words before `start` deny what follows in their clause, or suppose it only."""
    return _DISMISSAL.search(text[max(0, start - _BEFORE) : start]) is not None
