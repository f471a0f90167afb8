"""Tokens of a Cypher text; comments are left out."""

from __future__ import annotations

import re
from dataclasses import dataclass
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

# Characters that end a line for some parsers only: a comment that holds one could end early, or
# hide the query.
_DOUBTFUL_LINE_ENDS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


class UnreadableError(ValueError):
    """Something in the text is never closed, or ends at different places for different parsers."""


@dataclass(frozen=True, slots=True)
class Token:
    """One word or sign; `text` of a quoted name is the text between the backquotes."""

    kind: Kind
    text: str

    @property
    def word(self) -> str:
        """The word in capitals, as keywords are compared; "" for other kinds."""
        return self.text.casefold().upper() if self.kind == "word" else ""

    @property
    def is_name(self) -> bool:
        """Whether this can be the name of a variable, property or function."""
        return self.kind in {"word", "quoted"}

    def is_sign(self, *signs: str) -> bool:
        """Return whether this is one of `signs`."""
        return self.kind == "sign" and self.text in signs


END: Final = Token("sign", ";")
"""What stands, as it were, before the first token of a query and behind its last one."""


def decoded(cypher: str) -> str:
    r"""Return the text with ``\uXXXX`` replaced, as Neo4j does in names, comments and strings.

    Lone surrogates stay.
    """
    text = _UNICODE.sub(lambda match: chr(int(match[1], 16)) if match[1] else match[0], cypher)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def read_tokens(cypher: str) -> list[Token]:
    """Return the tokens in order.

    Raises:
        UnreadableError: a string, name or comment is never closed, or an escape stands outside of
            strings and names in backquotes.
    """
    tokens = []
    for match in _TOKEN.finditer(cypher):
        kind, text = match.lastgroup, match[0]
        if kind == "comment" and text.startswith("//") and _DOUBTFUL_LINE_ENDS.search(text):
            msg = "a comment holds a character that may end the line or not"
            raise UnreadableError(msg)
        # By the grammar of openCypher ``**/`` ends no comment, and the next ``*/`` would.
        if kind == "comment" and text[2:].endswith("**/") and "*/" in cypher[match.end() :]:
            msg = "a comment ends with **/ where some parsers go on to a later */"
            raise UnreadableError(msg)
        # Neo4j 5.26 takes an escape that begins the first token for its last hexadecimal digit.
        if (kind == "comment" and "\\u" in text) or text == "\\":
            msg = r"an escape such as \u0041 stands outside of strings and names in backquotes"
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
        # The names of the groups are the kinds.
        tokens.append(Token(kind, text))  # type: ignore[arg-type]
    return tokens
