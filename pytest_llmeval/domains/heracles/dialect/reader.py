"""A place in a query's tokens, moved forward by the parsers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_llmeval.domains.heracles.dialect.refusal import RefusedError
from pytest_llmeval.domains.heracles.dialect.syntax import Variable
from pytest_llmeval.domains.heracles.tokens import Token, read_tokens

_CLOSING: Final = {")": "(", "]": "[", "}": "{"}


class Reader:
    """The tokens of a query, and how far they are read."""

    def __init__(self, text: str) -> None:
        """Begin at the start of `text`; UnreadableError when it has no tokens."""
        self.text = text
        self.tokens = read_tokens(text)
        while self.tokens and self.tokens[-1].is_sign(";"):
            self.tokens.pop()
        self._at = 0
        self._end = Token("sign", "", len(text), len(text))
        self._partners = _partners(self.tokens)

    @property
    def start(self) -> int:
        """Where the next token begins, in characters."""
        return self.peek().start

    @property
    def end(self) -> int:
        """Where the last token that was read ended, in characters."""
        return self.tokens[self._at - 1].end if self._at else 0

    def peek(self, ahead: int = 0) -> Token:
        """Return the next token, or one further on; an empty sign beyond the end."""
        return self.tokens[self._at + ahead] if self._at + ahead < len(self.tokens) else self._end

    def next(self) -> Token:
        """Return the next token and move behind it; an error at the end, so that no loop over tokens runs for ever."""
        if self._at == len(self.tokens):
            raise self.unexpected("more of the query")
        token = self.peek()
        self._at += 1
        return token

    def partner(self, ahead: int) -> int:
        """Return how many tokens ahead the bracket closes that comes `ahead` tokens on; `ahead` when it never does."""
        return self._partners.get(self._at + ahead, self._at + ahead) - self._at

    def at_word(self, *words: str) -> bool:
        """Whether the next tokens are `words`, in capitals."""
        return all(self.peek(ahead).word == word for ahead, word in enumerate(words))

    def at_sign(self, *signs: str) -> bool:
        """Whether the next token is one of `signs`."""
        return self.peek().is_sign(*signs)

    def at_operator(self, operator: str) -> bool:
        """Whether the signs of `operator` come next, with nothing between them."""
        tokens = [self.peek(ahead) for ahead in range(len(operator))]
        return all(token.is_sign(sign) for token, sign in zip(tokens, operator, strict=True)) and (
            tokens[-1].end - tokens[0].start == len(operator)
        )

    def take_word(self, *words: str) -> bool:
        """Move behind `words` if they come next, and return whether they did."""
        found = self.at_word(*words)
        if found:
            self._at += len(words)
        return found

    def take_sign(self, sign: str) -> bool:
        """Move behind `sign` if it comes next, and return whether it did."""
        found = self.peek().is_sign(sign)
        self._at += found
        return found

    def take_operator(self, operator: str) -> bool:
        """Move behind `operator` if it comes next, and return whether it did."""
        found = self.at_operator(operator)
        if found:
            self._at += len(operator)
        return found

    def need_word(self, word: str) -> None:
        """Move behind `word`; an error when something else comes."""
        if not self.take_word(word):
            raise self.unexpected(f"'{word}'")

    def need_sign(self, sign: str) -> None:
        """Move behind `sign`; an error when something else comes."""
        if not self.take_sign(sign):
            raise self.unexpected(f"'{sign}'")

    def need_name(self) -> Token:
        """Return the name that comes next; an error when there is none."""
        if not self.peek().is_name:
            raise self.unexpected("an identifier")
        return self.next()

    def need_variable(self) -> Variable:
        """Return the variable that comes next; an error when there is none."""
        token = self.need_name()
        return Variable(start=token.start, end=token.end, name=token.text)

    def unexpected(self, expected: str) -> RefusedError:
        """Return the error that the next token is not what must come here."""
        token = self.peek()
        shown = self.text[token.start : token.end]
        return RefusedError(f"Invalid input '{shown}': expected {expected}", token.start)


def _partners(tokens: Sequence[Token]) -> dict[int, int]:
    """Return where each opening bracket's closing one is."""
    partners, opened = {}, []
    for index, token in enumerate(tokens):
        if token.is_sign("(", "[", "{"):
            opened.append(index)
        elif (
            token.is_sign(")", "]", "}")
            and opened
            and tokens[opened[-1]].text == _CLOSING[token.text]
        ):
            partners[opened.pop()] = index
    return partners
