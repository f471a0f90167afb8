"""Syntax errors of SLDP: position, what was found and expected, and a hint at the usual mistake."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedInput

_CHUNK = re.compile(r"[^\s,:<>{}\[\]()]+|.", re.DOTALL)
_LONGEST = 40
"""Characters of the offending text that a message repeats."""

_AROUND = 80
"""Characters before and after the error that the patterns of hints see."""

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

_ANYWHERE = (
    (re.compile(r"```"), "take off the code fence"),
    (re.compile(r"</?answer>", re.IGNORECASE), "take off the <answer> tags"),
)

# `@` marks the position of the error; the first pattern that matches gives the hint.
_HINTS = tuple(
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


class SldpSyntaxError(ValueError):
    """A text that is not valid SLDP.

    Attributes:
        line, column: position of the error, from 1.
        found: the text at that position, quoted, or ``the end``.
        expected: what the grammar allows there, in words.
        hint: how to correct the usual mistake of this form; may be empty.
    """

    def __init__(
        self, *, line: int, column: int, found: str, expected: str, hint: str = ""
    ) -> None:
        """Create the error; its message is composed of the arguments."""
        self.line, self.column = line, column
        self.found, self.expected, self.hint = found, expected, hint
        message = f"line {line}, column {column}: found {found}, expected {expected}"
        super().__init__(f"{message} ({hint})" if hint else message)


def grammar_error(text: str, error: UnexpectedInput) -> SldpSyntaxError:
    """Return the syntax error for an error of the parser."""
    token = getattr(error, "token", None)
    position = len(text) if token is not None and token.type == "$END" else error.pos_in_stream or 0
    allowed = error.interactive_parser.accepts()  # type: ignore[no-untyped-call] # untyped in lark
    return _error(text, position, expected=_expected(allowed), hint=_hint(text, position))


def rule_error(text: str, position: int, expected: str) -> SldpSyntaxError:
    """Return the syntax error for a text that the grammar allows and a further rule does not.

    Args:
        text: the whole text.
        position: where it breaks the rule, from 0.
        expected: the rule, in words.
    """
    return _error(text, position, expected=expected)


def _error(text: str, position: int, *, expected: str, hint: str = "") -> SldpSyntaxError:
    line_start = text.rfind("\n", 0, position) + 1
    return SldpSyntaxError(
        line=text.count("\n", 0, position) + 1,
        column=position - line_start + 1,
        found=_found(text, position),
        expected=expected,
        hint=hint,
    )


def _found(text: str, position: int) -> str:
    chunk = _CHUNK.match(text, position)
    if chunk is None:
        return "the end"
    shown = chunk.group()
    return repr(shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…")


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


def _hint(text: str, position: int) -> str:
    around = f"{text[max(0, position - _AROUND) : position]}@{text[position : position + _AROUND]}"
    hints = (hint for pattern, hint in _ANYWHERE if pattern.search(text))
    return next(hints, None) or next(
        (hint for pattern, hint in _HINTS if pattern.search(around)), ""
    )
