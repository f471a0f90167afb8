"""A place in a list of tokens: looking, taking, and finding where a group ends."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_llmeval.scoring.eed.commands import FONTS
from pytest_llmeval.scoring.eed.guards import Refused
from pytest_llmeval.scoring.eed.tokens import Token

END = Token("mark", "")
"""What stands behind the last token."""


class Cursor:
    """The reading position in one formula."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        """Stand before the first token."""
        self._tokens = tokens
        self.position = 0

    @property
    def here(self) -> Token:
        """The next token."""
        return self.peek(0)

    @property
    def done(self) -> bool:
        """Whether nothing is left."""
        return self.position >= len(self._tokens)

    def peek(self, offset: int) -> Token:
        """Return the token `offset` places on."""
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
        """Step over one of these signs if it is next and return it; else return the empty string."""
        return self.take().text if self.here.is_mark(*marks) else ""

    def expect(self, token: Token) -> None:
        """Step over this very token."""
        if self.here != token:
            msg = f"expected {shown(token)}, found {shown(self.here)}"
            raise Refused(msg)
        self.take()

    @property
    def rest(self) -> Sequence[Token]:
        """The tokens from here on."""
        return self._tokens[self.position :]

    def since(self, start: int) -> Sequence[Token]:
        """Return the tokens from a position up to here."""
        return self._tokens[start : self.position]

    def until(self, place: int) -> Sequence[Token]:
        """Go on to a position and return the tokens up to there."""
        start, self.position = self.position, place
        return self.since(start)

    def skip_to(self, *, remaining: int) -> None:
        """Go on until so many tokens are left."""
        self.position = len(self._tokens) - remaining

    def group(self) -> Sequence[Token]:
        """Step over a braced group, or over one token, and return what was in it."""
        if not self.here.is_mark("{"):
            return [self.take()]
        start, depth = self.position + 1, 0
        while not self.done:
            token = self.take()
            depth += token.is_mark("{") - token.is_mark("}")
            if depth == 0:
                return self._tokens[start : self.position - 1]
        msg = "expected '}', found the end of the formula"
        raise Refused(msg)

    def first_digit(self) -> None:
        r"""Cut a number after its first digit, because ``\frac12`` is one half."""
        token = self.here
        if token.kind == "number" and len(token.text) > 1 and token.text[0] != ".":
            pieces = [Token("number", token.text[0]), Token("number", token.text[1:])]
            self._tokens = [
                *self._tokens[: self.position],
                *pieces,
                *self._tokens[self.position + 1 :],
            ]

    def script(self) -> str:
        """Take a subscript as text: styling and spaces make no difference, everything else does."""
        if not self.here.is_mark("{"):
            self.first_digit()
            if self.here.is_command(*FONTS) and self.peek(1).is_mark("{"):
                self.take()
        return written(self.group())


def written(tokens: Sequence[Token]) -> str:
    """Return tokens as a name."""
    plain = (token for token in tokens if not (token.is_mark("{", "}") or token.is_command(*FONTS)))
    return "".join("".join(token.text.split()) for token in plain)


def shown(token: Token) -> str:
    """Return a token for a message."""
    if token is END:
        return "the end of the formula"
    return f"\\{token.text}" if token.kind == "command" else repr(token.text)
