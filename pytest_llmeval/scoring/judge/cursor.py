"""A place among the tokens of an answer, from which its grammar reads on."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NoReturn

from pytest_llmeval.scoring.judge.tokens import Token
from pytest_llmeval.scoring.numerals import UnreadableError, read_numeral

LONGEST_NUMBER: Final = 20
"""Characters of a number."""

_GROUP_DIGITS: Final = 3
_END: Final = Token("break", "", 0, 0)


class Cursor:
    """Passes over tokens.

    Attributes:
        position: of the next token.
        certain: whether all that was read so far can be read in one way only; the reader of what
            cannot sets it to False.
    """

    def __init__(self, tokens: Sequence[Token], position: int) -> None:
        """Begin at a position."""
        self._tokens, self.position = tokens, position
        self.certain = True

    @property
    def next(self) -> Token:
        """The next token, or a break at the end."""
        return self.ahead(0)

    def ahead(self, places: int) -> Token:
        """Return the token some places from the next one, or a break beyond either end."""
        place = self.position + places
        return self._tokens[place] if 0 <= place < len(self._tokens) else _END

    def take(self, *texts: str) -> bool:
        """Pass over the next token if it is one of these signs, words or commands."""
        found = self.next.kind not in {"break", "number"} and self.next.text in texts
        self.position += found
        return found

    def need(self, text: str) -> None:
        """Pass over a token that has to come next.

        Raises:
            UnreadableError: it does not.
        """
        if not self.take(text):
            self.refuse(f"no {text}")

    def numeral(self) -> Fraction:
        """Pass over the next token, and return it as a number.

        Raises:
            UnreadableError: it is none, its separators are not in their places, or it begins with
                needless zeros.
        """
        digits = self.next.text
        coded = digits[:1] == "0" and digits[1:2] not in {"", "."}
        if self.next.kind != "number" or len(digits) > LONGEST_NUMBER or coded:
            self.refuse("no plain number")
        self.certain = self.certain and not _ambiguous(digits)
        self.position += 1
        return read_numeral(digits, "point")

    def refuse(self, reason: str) -> NoReturn:
        """Raise UnreadableError: the tokens are no number for this reason."""
        msg = f"{reason}, at {self.next.text!r}"
        raise UnreadableError(msg)


def _ambiguous(written: str) -> bool:
    """Whether a number may be meant with the other sign for decimals: 1,234 and 1.234."""
    whole, _, part = written.replace(",", ".").rpartition(".")
    return len(part) == _GROUP_DIGITS and whole not in {"", "0"} and "." not in whole
