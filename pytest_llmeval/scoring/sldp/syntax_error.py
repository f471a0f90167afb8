"""Syntax errors of SLDP: what the grammar expects, and hints at the usual mistakes."""

from __future__ import annotations

import re
from collections.abc import Collection

from pytest_llmeval.scoring.syntax_error import AnswerSyntaxError, Hints, SyntaxErrors

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


SLDP_ERRORS = SyntaxErrors(kind=SldpSyntaxError, expected=_expected, chunk=_CHUNK, hints=_HINTS)
