"""The words and signs of a Cypher text, without comments and without looking into strings."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["word", "quoted", "string", "number", "sign"]
"""``quoted`` is a name in backquotes; a ``sign`` is one character, or the two dots of a range."""

_TOKEN: Final = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<comment>//[^\n\r]*|/\*.*?\*/)
    | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<quoted>`(?:[^`]|``)*`)
    | (?P<number>0[xX][0-9a-fA-F]+|0[oO][0-7]+|[0-9]+(?:\.(?!\.)[0-9]*)?(?:[eE][+-]?[0-9]+)?)
    | (?P<word>[^\W\d]\w*)
    | (?P<sign>\.\.|.)
    """,
    re.VERBOSE | re.DOTALL,
)

_UNICODE = re.compile(r"\\(?:u+([0-9a-fA-F]{4})|.)", re.DOTALL)

# Line ends to some readers and not to others: a comment that holds one could end early, or swallow
# the query.
_DOUBTFUL_LINE_ENDS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


class UnreadableError(ValueError):
    """The text has no tokens: something in it is never closed, or ends at different places for different readers."""


@dataclass(frozen=True, slots=True)
class Token:
    """One word or sign. `text` of a quoted name is what stands between the backquotes.

    `start` and `end` are where it stands in the query, in characters.
    """

    kind: Kind
    text: str
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)

    @property
    def word(self) -> str:
        """The word in capitals, as keywords are compared; empty for everything that is no plain word."""
        return self.text.casefold().upper() if self.kind == "word" else ""

    @property
    def is_name(self) -> bool:
        """Whether this can be the name of a variable, property or function."""
        return self.kind in {"word", "quoted"}

    def is_sign(self, *signs: str) -> bool:
        """Whether this is one of `signs`, and not a name or a string of that spelling."""
        return self.kind == "sign" and self.text in signs


def decoded(cypher: str) -> str:
    r"""Return the text as Neo4j reads it: ``\uXXXX`` is the character, in names, comments and strings alike.

    Half a character stays one, where the text has no other half for it.
    """
    text = _UNICODE.sub(lambda match: chr(int(match[1], 16)) if match[1] else match[0], cypher)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def read_tokens(cypher: str) -> list[Token]:
    """Return the tokens in order; UnreadableError for an open string, name or comment."""
    tokens = []
    for match in _TOKEN.finditer(cypher):
        kind, text = match.lastgroup, match[0]
        if kind == "comment" and text.startswith("//") and _DOUBTFUL_LINE_ENDS.search(text):
            msg = "a comment holds a character that may end the line or not"
            raise UnreadableError(msg)
        if kind in {"space", "comment"}:
            continue
        if kind == "sign" and text in {"'", '"', "`"}:
            what = "name in backquotes" if text == "`" else "string"
            msg = f"a {what} is never closed"
            raise UnreadableError(msg)
        if kind == "sign" and text == "/" and cypher.startswith("/*", match.start()):
            msg = "a comment is never closed"
            raise UnreadableError(msg)
        if kind == "quoted":
            text = text[1:-1].replace("``", "`")
        tokens.append(Token(kind, text, match.start(), match.end()))  # type: ignore[arg-type] # the group names are the kinds
    return tokens
