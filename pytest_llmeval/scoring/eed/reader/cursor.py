"""A reading position in a list of tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_llmeval.scoring.eed.reader.commands import FONTS
from pytest_llmeval.scoring.eed.reader.guards import FormulaError
from pytest_llmeval.scoring.eed.reader.token import Token

END = Token("mark", "")
"""The token behind the last one."""


_POWER = re.compile(r"([eE])([+-]?)(\d+)")
_SHOWN_TOKENS = 6  # before the place of an error


class Cursor:
    """The reading position in one formula."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        """Start before the first token."""
        self._tokens = list(tokens)
        self.position = 0

    @property
    def here(self) -> Token:
        """The next token."""
        return self.peek(0)

    @property
    def behind(self) -> str:
        """The last tokens before this position, as LaTeX."""
        start = max(0, self.position - 1 - _SHOWN_TOKENS)
        read = self._tokens[start : max(0, self.position - 1)]
        return " ".join(
            f"\\{token.text}" if token.kind == "command" else token.text for token in read
        )

    @property
    def done(self) -> bool:
        """Whether all tokens are read."""
        return self.position >= len(self._tokens)

    def peek(self, offset: int) -> Token:
        """Return the token `offset` places ahead."""
        return self.at(self.position + offset)

    def at(self, position: int) -> Token:
        """Return the token at a position."""
        return self._tokens[position] if position < len(self._tokens) else END

    def take(self) -> Token:
        """Return the next token and step over it."""
        token = self.here
        self.position += 1
        return token

    def take_mark(self, *marks: str) -> str:
        """Take the next token if it is one of these marks, and return it; else return ""."""
        return self.take().text if self.here.is_mark(*marks) else ""

    def expect(self, token: Token) -> None:
        """Take the next token; FormulaError if it is another."""
        if self.here != token:
            msg = f"expected {shown(token)}, found {shown(self.here)}"
            raise FormulaError(msg)
        self.take()

    @property
    def length(self) -> int:
        """The number of tokens, read or not."""
        return len(self._tokens)

    @property
    def rest(self) -> Sequence[Token]:
        """The tokens from here on."""
        return self._tokens[self.position :]

    def since(self, start: int) -> Sequence[Token]:
        """Return the tokens from a position up to the current one."""
        return self._tokens[start : self.position]

    def until(self, place: int) -> Sequence[Token]:
        """Move to a position and return the tokens up to it."""
        start, self.position = self.position, place
        return self.since(start)

    def skip_to(self, *, remaining: int) -> None:
        """Move to where this number of tokens remains."""
        self.position = len(self._tokens) - remaining

    def group(self) -> Sequence[Token]:
        """Take a braced group, and return the tokens inside, or take a single token."""
        if not self.here.is_mark("{"):
            return [self.take()]
        start, depth = self.position + 1, 0
        while not self.done:
            token = self.take()
            depth += token.is_mark("{") - token.is_mark("}")
            if depth == 0:
                return self._tokens[start : self.position - 1]
        msg = "expected '}', found the end of the formula"
        raise FormulaError(msg)

    def bracket(self) -> Sequence[Token]:
        """Take a round or square bracket, and return the tokens inside."""
        start, depth = self.position + 1, 0
        while not self.done:
            token = self.take()
            depth += token.nesting
            if depth == 0:
                break
        return self._tokens[start : self.position - 1]

    def first_digit(self) -> None:
        r"""Split the next token, a number, after its first digit: ``\frac12`` is one half.

        Of a power of ten nothing is left then: ``\sqrt6e-9`` is the root of 6, e and -9.
        """
        token = self.here
        if token.kind == "number" and len(token.text) > 1 and token.text[0] != ".":
            first, rest = token.text[0], token.text[1:]
            power = _POWER.fullmatch(rest)
            pieces = [Token("number", first), Token("number", rest)]
            if power:
                letter, sign, digits = power.groups()
                signed = [Token("mark", sign)] if sign else []
                pieces[1:] = [Token("letter", letter), *signed, Token("number", digits)]
            self._tokens[self.position : self.position + 1] = pieces

    def script(self) -> str:
        """Take a subscript and return it as text, without fonts and spaces."""
        return written(self.group_or_fonts())

    def group_or_fonts(self) -> Sequence[Token]:
        r"""Take a braced group or a single token, also behind fonts, as in ``\hat\mathbf r``."""
        if not self.here.is_mark("{"):
            self.first_digit()
            while self.here.is_command(*FONTS):
                self.take()
        return self.group()


def written(tokens: Sequence[Token], between: str = "") -> str:
    """Return the text of tokens, without braces, fonts and spaces, joined by `between`."""
    plain = (token for token in tokens if not (token.is_mark("{", "}") or token.is_command(*FONTS)))
    return between.join("".join(token.text.split()) for token in plain)


def shown(token: Token) -> str:
    """Return a token as messages show it."""
    if token is END:
        return "the end of the formula"
    return f"\\{token.text}" if token.kind == "command" else repr(token.text)
