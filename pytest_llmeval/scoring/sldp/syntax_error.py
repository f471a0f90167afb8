"""Syntax errors of SLDP: what the grammar expects, and hints at the usual mistakes."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from pytest_llmeval.scoring.syntax_error import AnswerSyntaxError, Hints

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedInput

_CHUNK = re.compile(r"[^\s,:<>{}\[\]()]+|.", re.DOTALL)
_EXPECTED = {
    "COMMA": '","',
    "COLON": '":"',
    "RSQB": '"]"',
    "MORETHAN": '">"',
    "RBRACE": '"}"',
    "LPAR": '"("',
    "RPAR": '")"',
    "$END": "the end",
}

_HINTS: Hints = tuple(
    (re.compile(pattern, re.DOTALL), hint)
    for pattern, hint in (
        (r"POINT\s*\([^()]*@,", "a point's coordinates are separated by blanks: POINT(1 2 3)"),
        (
            r"POINT\s*\((?:[^()]*@\)|\s*\S+\s+\S+\s+\S+\s+@)",
            "a point has three coordinates: POINT(1 2 3)",
        ),
        (r"POINT\s*\([^()]*@", "a point's coordinates are numbers: POINT(1 2 3)"),
        (r"(?:[Pp]oint|POINT\w+)\s*@\(", "a point is written in upper case: POINT(1 2 3)"),
        (r"\w\s*@\(\s*[0-9]+\s*\)", "a node is written without brackets: O1, not O(1)"),
        (r"@\(", "round brackets only belong to POINT(x y z); a list is [a, b], a set <a, b>"),
        (r"[,\[<{]\s*@,|^\s*@,", "drop the comma"),
        (r",\s*@[\]>}]", "drop the comma before the closing bracket"),
        (r"@[“”‘’„]", 'use straight quotes: "trash can"'),
        (r"""@["'`]""", "close the quotes, and put a backslash before a quote inside them"),
        (
            r"^[^,:<>{}\[\]()]*@,",
            (
                "several values belong into brackets, [a, b] or <a, b>; "
                "a number has no thousands comma"
            ),
        ),
        (r"\w\s+@\w", 'put a comma between values; quote a string of several words: "trash can"'),
        (
            r"@\w*[^\w\s,:<>{}\[\]()]",
            'quote a string of more than letters, digits and "_": "parking-lot"',
        ),
        (
            r"[\]>})\"']\s*@[^,:\]>}]",
            "write one value and nothing after it, or a comma between two",
        ),
    )
)


class SldpSyntaxError(AnswerSyntaxError):
    """A text that is not valid SLDP."""


def grammar_error(text: str, error: UnexpectedInput) -> SldpSyntaxError:
    """Return the syntax error for an error of the parser."""
    token = getattr(error, "token", None)
    position = len(text) if token is not None and token.type == "$END" else error.pos_in_stream or 0
    allowed = error.interactive_parser.accepts()  # type: ignore[no-untyped-call] # untyped in lark
    return SldpSyntaxError.at(
        text, position, expected=_expected(allowed), chunk=_CHUNK, hints=_HINTS
    )


def rule_error(text: str, position: int, expected: str) -> SldpSyntaxError:
    """Return the syntax error for a text that the grammar allows and a further rule does not.

    Args:
        text: the whole text.
        position: where it breaks the rule, from 0.
        expected: the rule, in words.
    """
    return SldpSyntaxError.at(text, position, expected=expected, chunk=_CHUNK)


def _expected(terminals: Collection[str]) -> str:
    """Return the allowed terminals in words: a value, key or number first, then punctuation."""
    if "LSQB" in terminals:
        places = ["a value"]
    elif "WORD" in terminals:
        places = ["a key"]
    elif "NUMBER" in terminals:
        places = ["a number"]
    else:
        places = []
    return " or ".join(places + [words for name, words in _EXPECTED.items() if name in terminals])
