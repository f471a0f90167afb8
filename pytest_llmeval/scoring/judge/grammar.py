r"""The grammar of a number as a final answer: fractions, roots, pi, and their products.

::

    sum      = [-] product {(+ | -) product}
    product  = factor {[· | ×] factor} [/ factor]
    factor   = number | mixed number | \frac{sum}{sum} | (sum)
             | root of a number, of (sum) or of {sum} | pi | power of a number or of pi

What careful readers may read in two ways is refused: ``1/2π``, ``\sqrt 12``, ``2 (13)``, ``2 × 3``,
``10 - 12``. What is read in the usual one of two ways is not `certain`: ``4 1/2``, ``5^2``,
``1,234``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from pytest_llmeval.scoring.judge.radicals import RadicalSum
from pytest_llmeval.scoring.judge.tokens import Token
from pytest_llmeval.scoring.numerals import UnreadableError, read_numeral

LONGEST_NUMBER: Final = 20
"""Characters of a number."""

_FRACTIONS: Final = frozenset({"\\frac", "\\dfrac", "\\tfrac", "\\cfrac"})
_TIMES: Final = frozenset({"*", "·", "×", "\\cdot", "\\times"})
_PI: Final = frozenset({"π", "\\pi", "pi"})
_ROOTS: Final = frozenset({"√", "\\sqrt", "sqrt"})
_SUPERSCRIPTS: Final = {"²": 2, "³": 3}
_GROUP_DIGITS: Final = 3
_END = Token("break", "", 0, 0)


@dataclass(frozen=True, slots=True)
class Value:
    """A number as read.

    Attributes:
        number: its exact value.
        places: decimal places of a plain decimal number, 0 of a whole one; None for an expression,
            which is not rounded.
        certain: whether it can be read in one way only.
    """

    number: RadicalSum
    places: int | None
    certain: bool


@dataclass(frozen=True, slots=True)
class _Factor:
    """A factor, or a product of several; `kind` says what may stand behind it."""

    kind: str  # number, mixed, fraction, group, root, bare root, pi, power
    number: RadicalSum


def begins_value(token: Token) -> bool:
    """Whether a number may begin with this token."""
    return token.kind == "number" or (
        token.kind != "break" and token.text in {*_FRACTIONS, *_PI, *_ROOTS, "(", "-", "+"}
    )


def read_value(tokens: Sequence[Token], position: int) -> tuple[Value, int]:
    """Return the number that begins at a position, and the position behind it.

    Raises:
        UnreadableError: there is none.
    """
    reader = _Reader(tokens, position)
    number, kinds = reader.sum()
    plain = kinds == ["number"]
    written = tokens[reader.position - 1].text
    places = len(written.partition(".")[2]) if plain else None
    return Value(number, places, reader.certain), reader.position


def _ambiguous(written: str) -> bool:
    """Whether a number may be meant with the other sign for decimals: 1,234 and 1.234."""
    whole, _, part = written.replace(",", ".").rpartition(".")
    return len(part) == _GROUP_DIGITS and whole not in {"", "0"} and "." not in whole


class _Reader:
    """Reads tokens from a position on."""

    def __init__(self, tokens: Sequence[Token], position: int) -> None:
        self._tokens, self.position = tokens, position
        self.certain = True

    def sum(self) -> tuple[RadicalSum, list[str]]:
        """Return the value of a sum, and the kinds of its terms.

        A difference of two plain numbers may be a range, and a sum of them is no final answer: in
        sums one term at least is irrational.
        """
        negative = self._sign()
        first = self._product()
        total, kinds = -first.number if negative else first.number, [first.kind]
        irrational = first.number.irrational
        while (sign := self._next.text) in {"+", "-"} and self._next.kind == "sign":
            self.position += 1
            term = self._product()
            irrational = irrational or term.number.irrational
            total += -term.number if sign == "-" else term.number
            kinds.append(term.kind)
        if len(kinds) > 1 and not irrational:
            raise self._refused("a sum of plain numbers")
        return total, kinds

    @property
    def _next(self) -> Token:
        return self._tokens[self.position] if self.position < len(self._tokens) else _END

    def _refused(self, why: str) -> UnreadableError:
        return UnreadableError(f"{why} at {self._next.text!r}")

    def _take(self, *texts: str) -> bool:
        """Pass over the next token if it is one of these signs, words or commands."""
        found = self._next.kind not in {"break", "number"} and self._next.text in texts
        self.position += found
        return found

    def _need(self, text: str) -> None:
        if not self._take(text):
            msg = f"no {text}"
            raise self._refused(msg)

    def _sign(self) -> bool:
        """Pass over a sign that touches what follows; return whether it is a minus."""
        negative = self._next.text == "-"
        if self._take("-", "+") and self._next.spaced and not self._bracketed():
            raise self._refused("a dash that may be a list's")
        return negative

    def _bracketed(self) -> bool:
        """Whether an equals sign or a bracket stands before the sign that was just read."""
        before = self._tokens[self.position - 2] if self.position > 1 else _END
        return before.kind in {"sign", "command"} and before.text in {
            "=",
            "≈",
            "\\approx",
            "(",
            "{",
        }

    def _product(self) -> _Factor:
        first = self._factor()
        product, last = first.number, first
        while True:
            if self._take(*_TIMES):
                factor = self._factor()
                if last.kind == factor.kind == "number" or "mixed" in {last.kind, factor.kind}:
                    raise self._refused("a product of plain numbers")
            elif self._take("/"):
                return self._quotient(product, last)
            elif self._begins_implicit_factor(last):
                factor = self._factor()
                if factor.kind == "fraction":
                    return self._mixed(first, last, factor)
            else:
                return last if last is first else _Factor("product", product)
            product, last = product * factor.number, factor

    def _begins_implicit_factor(self, last: _Factor) -> bool:
        """Whether a factor follows without a sign; what may mean two things is refused."""
        token = self._next
        if token.kind == "number" or not begins_value(token) or token.text in {"-", "+"}:
            if token.kind == "number":
                raise self._refused("two numbers beside each other")
            return False
        if (
            last.kind == "mixed"
            or (last.kind == "bare root" and token.text not in _ROOTS)
            or (last.kind == "pi" and token.text in _PI)
        ):
            raise self._refused("a product that may be read in two ways")
        return True

    def _mixed(self, first: _Factor, last: _Factor, fraction: _Factor) -> _Factor:
        r"""Return the mixed number of ``4 \frac{4}{11}``."""
        whole, part = (one.number.terms.get((1, 0), Fraction(0)) for one in (last, fraction))
        proper = 0 < part < 1 <= whole and whole.denominator == 1 and not fraction.number.irrational
        if last is not first or last.kind != "number" or not proper or self._continues():
            raise self._refused("a number before a fraction")
        self.certain = False
        return _Factor("mixed", first.number + fraction.number)

    def _quotient(self, product: RadicalSum, last: _Factor) -> _Factor:
        """Return a product divided by the next factor, which must end the product."""
        if last.kind == "mixed":
            raise self._refused("a division of a mixed number")
        self.certain = self.certain and last.kind != "bare root"
        divisor = self._factor()
        if divisor.kind == "mixed" or self._continues():
            raise self._refused("a division that may be read in two ways")
        return _Factor("quotient", product * divisor.number.inverse())

    def _continues(self) -> bool:
        """Whether the product goes on."""
        token = self._next
        if token.kind == "break" or token.text in {"-", "+"}:
            return False
        return begins_value(token) or token.text in {*_TIMES, "/"}

    def _factor(self) -> _Factor:
        if self._next.kind == "number":
            return self._number()
        if self._take(*_PI):
            return self._power(_Factor("pi", RadicalSum.pi()))
        if self._next.text in _ROOTS:
            return self._root()
        if self._take(*_FRACTIONS):
            top, bottom = self._braced(), self._braced()
            return _Factor("fraction", top * bottom.inverse())
        if self._take("("):
            number, kinds = self.sum()
            if kinds == ["number"]:
                raise self._refused("a number in brackets")
            self._need(")")
            return _Factor("group", number)
        raise self._refused("no number")

    def _braced(self) -> RadicalSum:
        self._need("{")
        number, _ = self.sum()
        self._need("}")
        return number

    def _number(self) -> _Factor:
        value = self._numeral()
        whole = value.denominator == 1
        if whole and self._next.kind == "number" and self._next.spaced and value:
            return self._mixed_in_line(value)
        factor = _Factor("number", RadicalSum.rational(value))
        return self._power(factor) if whole else factor

    def _numeral(self) -> Fraction:
        """Return the next number.

        Raises:
            UnreadableError: its separators are not in their places, or it begins with needless
                zeros.
        """
        digits = self._next.text
        if len(digits) > LONGEST_NUMBER or (digits[0] == "0" and digits[1:2] not in {"", "."}):
            raise self._refused("a number that may be a code")
        self.certain = self.certain and not _ambiguous(digits)
        self.position += 1
        return read_numeral(digits, "point")

    def _mixed_in_line(self, whole: Fraction) -> _Factor:
        """Return the mixed number of ``4 4/11``."""
        top = self._numeral()
        self._need("/")
        bottom = self._numeral() if self._next.kind == "number" else Fraction(0)
        if top.denominator != 1 or bottom.denominator != 1 or not 0 < top < bottom:
            raise self._refused("two numbers beside each other")
        if self._continues():
            raise self._refused("a mixed number that goes on")
        self.certain = False
        return _Factor("mixed", RadicalSum.rational(whole + top / bottom))

    def _root(self) -> _Factor:
        """Return a root; in LaTeX one without braces is that of the next digit alone."""
        root = self._next.text
        self.position += 1
        if self._next.kind == "number" and root != "sqrt":
            digits = self._next.text
            if root == "\\sqrt" and len(digits) > 1:
                raise self._refused("a root without braces")
            self.certain = self.certain and "." not in digits
            return _Factor("bare root", RadicalSum.rational(self._numeral()).root())
        if root != "\\sqrt" and self._take("("):
            number, _ = self.sum()
            self._need(")")
            return _Factor("root", number.root())
        return _Factor("root", self._braced().root())

    def _power(self, base: _Factor) -> _Factor:
        """Return the factor to the power behind it, if there is one that is no sign of degrees."""
        exponent = 1
        if self._next.text in _SUPERSCRIPTS and not self._next.spaced:
            exponent = _SUPERSCRIPTS[self._next.text]
            self.position += 1
        elif self._next.text == "^" and not _is_degree(self._tokens, self.position + 1):
            self.position += 1
            braced = self._take("{")
            digits = self._next.text
            if self._next.kind != "number" or digits not in set("23456789"):
                raise self._refused("a power")
            self.position += 1
            if braced:
                self._need("}")
            exponent = int(digits)
        if exponent == 1:
            return base
        self.certain = False
        number = base.number
        for _ in range(exponent - 1):
            number = number * base.number
        return _Factor("power", number)


def _is_degree(tokens: Sequence[Token], position: int) -> bool:
    ahead = [token.text for token in tokens[position : position + 2]]
    return ahead[:1] == ["\\circ"] or ahead == ["{", "\\circ"]
