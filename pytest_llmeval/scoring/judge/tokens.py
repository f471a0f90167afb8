r"""The tokens of a plainly stated answer: numbers, words, commands and signs.

Mark-up (``$``, ``\(``, ``**``, ``\boxed{``, headings, list marks) and line breaks become breaks:
nothing is joined across them, and no blank is deleted before the tokens are known. A text with any
other sign, or with mark-up or brackets that do not match, has no tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["number", "word", "command", "sign", "break"]

LONGEST: Final = 200
"""Characters of an answer that is read; a longer one is not plainly stated."""

DEEPEST: Final = 12
"""Most brackets and marks inside each other."""

_BLANK = r"[ \t\u00a0]"
_TOKEN = re.compile(
    rf"(?P<blank>(?:{_BLANK}|\\[,;:! ]|~|\\(?:quad|left|right|displaystyle)(?![A-Za-z]))+)"
    # A dash before a number may be a list's or a minus, so it is a list's before words only.
    rf"|(?P<line>\r?\n(?:{_BLANK}|\r?\n)*(?:(?:\#{{1,6}}|[*•]|-(?={_BLANK}+(?:\*\*)?[A-Z][a-z]))"
    rf"{_BLANK}+)?)"
    r"|(?P<font>\\(?:text|textbf|textrm|mathrm|mathbf|operatorname)[ ]?\{)"
    r"|(?P<box>\\boxed[ ]?\{)"
    r"|(?P<mark>\*\*|__|\$\$?|\\[()\[\]])"
    r"|(?P<number>[0-9](?:[0-9.,]|\{,\})*)"
    r"|(?P<command>\\[A-Za-z]+)"
    r"|(?P<word>[A-Za-z]+)"
    r"|(?P<bracket>[(){}])"
    r"|(?P<sign>[-+−*·×/^=≈:.,√π°∠²³])"
)
_CLOSERS: Final = {"(": ")", "{": "}", "font": "}", "box": "}", "\\(": "\\)", "\\[": "\\]"}
_SYMMETRIC: Final = frozenset({"**", "__", "$", "$$"})


@dataclass(frozen=True, slots=True)
class Token:
    """A part of an answer; `text[start:end]` is its place in the answer.

    The text of a break is its mark, "" for a line break alone. `spaced`: a blank or a line break
    stands before the token.
    """

    kind: Kind
    text: str
    start: int
    end: int
    spaced: bool = False


def tokens_of(text: str) -> Sequence[Token] | None:
    """Return the tokens of an answer; None if it is no plain one."""
    if len(text) > LONGEST:
        return None
    found = list(_scanned(f"\n{text}"))
    return None if any(token is None for token in found) else _unmarked(found)


def _scanned(text: str) -> Iterator[Token | None]:
    """Yield the tokens with their marks and brackets; None for what is none."""
    position, spaced = 0, True
    while position < len(text):
        match = _TOKEN.match(text, position)
        kind, written, end = (
            ("", "", 0) if match is None else (match.lastgroup or "", match[0], match.end())
        )
        if not kind or (kind == "number" and text[position - 1].isalpha()):
            yield None
            return
        if kind == "number":
            written = written.rstrip(".,")
            end = position + len(written)
        if kind != "blank":
            yield _token(kind, written, (position - 1, end - 1), spaced=spaced)
        spaced = kind in {"blank", "line"}
        position = end


def _token(kind: str, written: str, place: tuple[int, int], *, spaced: bool) -> Token:
    match kind:
        case "number":
            return Token("number", written.replace("{,}", ","), *place, spaced)
        case "word":
            return Token("word", written, *place, spaced)
        case "command":
            return Token("command", written, *place, spaced)
        case "line":
            return Token("break", written.strip()[:1], *place)  # "#" of a heading, a list's mark
        case "font" | "box":
            return Token("sign", kind, *place, spaced)
        case _:
            return Token("sign", written.replace("−", "-"), *place, spaced)


def _unmarked(tokens: Sequence[Token | None]) -> Sequence[Token] | None:
    """Return the tokens with a break for each mark, without fonts; None if anything is open."""
    kept: list[Token] = []
    opened: list[tuple[str, int]] = []  # each with the number of tokens before it
    for token in filter(None, tokens):
        mark = token.text if token.kind == "sign" else ""
        innermost = opened[-1][0] if opened else ""
        if mark and mark == _CLOSERS.get(innermost, innermost):
            opener, before = opened.pop()
            if all(one.kind == "break" for one in kept[before:]):
                return None  # there is nothing inside
        elif mark in _CLOSERS or mark in _SYMMETRIC:
            opener = mark
            opened.append((mark, len(kept)))
        elif mark in _CLOSERS.values():
            return None
        else:
            opener = ""
        if opener in {"", "(", "{"}:
            kept.append(token)
        elif opener != "font":
            kept.append(Token("break", mark, token.start, token.end))
        if len(opened) > DEEPEST:
            return None
    return None if opened else kept
