"""Syntax errors of PDDL goals: what the grammar expects, and hints at the usual mistakes."""

from __future__ import annotations

import re
from collections.abc import Collection

from pytest_llmeval.scoring.syntax_error import AnswerSyntaxError, Hints, SyntaxErrors

_CHUNK = re.compile(r"[^\s()]+|\S")

_HINTS: Hints = tuple(
    (re.compile(pattern, re.DOTALL | re.IGNORECASE), hint)
    for pattern, hint in (
        (r"^\s*\(\s*@:goal\b", "write the goal alone, without (:goal ...)"),
        (r"\(\s*@(?::|define\b)", "write the goal alone, nothing else of a problem file"),
        (r"(?:^\s*|\((?:and|or|not)\s+)@[\w-]", "a fact stands in brackets: (visited-room R1)"),
        (r"\(\s*@\(", "a bracket is followed by a predicate, and, or, or not"),
        (r"\(\s*(?:forall|exists|imply|when)\s*@\(", "only and, or and not join goals"),
        (r"\w@\(\s*[0-9]", "a symbol is written without brackets: O1, not O(1)"),
        (r"[\w-]\s*@\(", "a fact holds symbols, no other facts; and, or and not join goals"),
        (r"@,|@[^\s(),]*,", "symbols are separated by blanks: (object-in-place O1 P2)"),
        (r"@\?", "a fact holds symbols, no variables"),
        (r"\(\s*not\b.*\)\s*@\(", "not takes one goal; join several: (not (and (a) (b)))"),
        (r"^\s*\(.*\)\s*@\(", "one goal and nothing after it; join several: (and (a) (b))"),
        (r"\)\s*@[\w-]", "write each fact in brackets, and nothing but the goal"),
        (r"\)\s*@\)", "drop the closing bracket"),
        (r"\(.*@$", "close every bracket"),
        (r"@[^\s()]", "names hold letters, digits, _ and -"),
    )
)


class PddlSyntaxError(AnswerSyntaxError):
    """A text that is no goal in PDDL."""


def _expected(terminals: Collection[str]) -> str:
    """Return the allowed terminals in words."""
    names = {
        "TRUE": "a goal",
        "NAME": "a predicate, and, or, not",
        "SYMBOL": "a symbol",
        "RPAR": '")"',
        "$END": "the end",
    }
    return " or ".join(words for name, words in names.items() if name in terminals)


PDDL_ERRORS = SyntaxErrors(kind=PddlSyntaxError, expected=_expected, chunk=_CHUNK, hints=_HINTS)
