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

from pytest_llmeval.scoring.judge.cursor import Cursor
from pytest_llmeval.scoring.judge.radicals import RadicalSum
from pytest_llmeval.scoring.judge.tokens import Token

_FRACTIONS: Final = frozenset({"\\frac", "\\dfrac", "\\tfrac", "\\cfrac"})
_TIMES: Final = frozenset({"*", "·", "×", "\\cdot", "\\times"})
_PI: Final = frozenset({"π", "\\pi", "pi"})
_ROOTS: Final = frozenset({"√", "\\sqrt", "sqrt"})
_BEFORE_SIGNS: Final = frozenset({"=", "≈", "\\approx", "(", "{"})
_SUPERSCRIPTS: Final = {"²": 2, "³": 3}


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
    cursor = Cursor(tokens, position)
    number, kinds = _Reader(cursor).sum()
    written = cursor.ahead(-1).text
    places = len(written.partition(".")[2]) if kinds == ["number"] else None
    return Value(number, places, cursor.certain), cursor.position


class _Reader:
    """Reads the rules of the grammar, one method each, at a cursor."""

    def __init__(self, cursor: Cursor) -> None:
        self._at = cursor

    def sum(self) -> tuple[RadicalSum, list[str]]:
        """Return the value of a sum, and the kinds of its terms.

        A difference of two plain numbers may be a range, and a sum of them is no final answer: in
        sums one term at least is irrational.
        """
        negative = self._sign()
        first = self._product()
        total, kinds = -first.number if negative else first.number, [first.kind]
        irrational = first.number.irrational
        while (sign := self._at.next.text) in {"+", "-"} and self._at.next.kind == "sign":
            self._at.position += 1
            term = self._product()
            irrational = irrational or term.number.irrational
            total += -term.number if sign == "-" else term.number
            kinds.append(term.kind)
        if len(kinds) > 1 and not irrational:
            self._at.refuse("a sum of plain numbers")
        return total, kinds

    def _sign(self) -> bool:
        """Pass over a sign that touches what follows; return whether it is a minus."""
        negative = self._at.next.text == "-"
        if self._at.take("-", "+") and self._at.next.spaced and not self._bracketed():
            self._at.refuse("a dash that may be a list's")
        return negative

    def _bracketed(self) -> bool:
        """Whether an equals sign or a bracket stands before the sign that was just read."""
        before = self._at.ahead(-2)
        return before.kind in {"sign", "command"} and before.text in _BEFORE_SIGNS

    def _product(self) -> _Factor:
        first = self._factor()
        product, last = first.number, first
        while True:
            if self._at.take(*_TIMES):
                factor = self._factor()
                if last.kind == factor.kind == "number" or "mixed" in {last.kind, factor.kind}:
                    self._at.refuse("a product of plain numbers")
            elif self._at.take("/"):
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
        token = self._at.next
        if token.kind == "number" or not begins_value(token) or token.text in {"-", "+"}:
            if token.kind == "number":
                self._at.refuse("two numbers beside each other")
            return False
        if (
            last.kind == "mixed"
            or (last.kind == "bare root" and token.text not in _ROOTS)
            or (last.kind == "pi" and token.text in _PI)
        ):
            self._at.refuse("a product that may be read in two ways")
        return True

    def _mixed(self, first: _Factor, last: _Factor, fraction: _Factor) -> _Factor:
        r"""Return the mixed number of ``4 \frac{4}{11}``."""
        whole, part = (one.number.terms.get((1, 0), Fraction(0)) for one in (last, fraction))
        proper = 0 < part < 1 <= whole and whole.denominator == 1 and not fraction.number.irrational
        if last is not first or last.kind != "number" or not proper or self._continues():
            self._at.refuse("a number before a fraction")
        self._at.certain = False
        return _Factor("mixed", first.number + fraction.number)

    def _quotient(self, product: RadicalSum, last: _Factor) -> _Factor:
        """Return a product divided by the next factor, which must end the product."""
        if last.kind == "mixed":
            self._at.refuse("a division of a mixed number")
        self._at.certain = self._at.certain and last.kind != "bare root"
        divisor = self._factor()
        if divisor.kind == "mixed" or self._continues():
            self._at.refuse("a division that may be read in two ways")
        return _Factor("quotient", product * divisor.number.inverse())

    def _continues(self) -> bool:
        """Whether the product goes on."""
        token = self._at.next
        if token.kind == "break" or token.text in {"-", "+"}:
            return False
        return begins_value(token) or token.text in {*_TIMES, "/"}

    def _factor(self) -> _Factor:
        if self._at.next.kind == "number":
            return self._number()
        if self._at.take(*_PI):
            return self._power(_Factor("pi", RadicalSum.pi()))
        if self._at.next.text in _ROOTS:
            return self._root()
        if self._at.take(*_FRACTIONS):
            top, bottom = self._braced(), self._braced()
            return _Factor("fraction", top * bottom.inverse())
        if not self._at.take("("):
            self._at.refuse("no number")
        number, kinds = self.sum()
        if kinds == ["number"]:
            self._at.refuse("a number in brackets")
        self._at.need(")")
        return _Factor("group", number)

    def _braced(self) -> RadicalSum:
        self._at.need("{")
        number, _ = self.sum()
        self._at.need("}")
        return number

    def _number(self) -> _Factor:
        value = self._at.numeral()
        whole = value.denominator == 1
        if whole and self._at.next.kind == "number" and self._at.next.spaced and value:
            return self._mixed_in_line(value)
        factor = _Factor("number", RadicalSum.rational(value))
        return self._power(factor) if whole else factor

    def _mixed_in_line(self, whole: Fraction) -> _Factor:
        """Return the mixed number of ``4 4/11``."""
        top = self._at.numeral()
        self._at.need("/")
        bottom = self._at.numeral()
        if top.denominator != 1 or bottom.denominator != 1 or not 0 < top < bottom:
            self._at.refuse("two numbers beside each other")
        if self._continues():
            self._at.refuse("a mixed number that goes on")
        self._at.certain = False
        return _Factor("mixed", RadicalSum.rational(whole + top / bottom))

    def _root(self) -> _Factor:
        """Return a root; in LaTeX one without braces is that of the next digit alone."""
        root = self._at.next.text
        self._at.position += 1
        if self._at.next.kind == "number" and root != "sqrt":
            digits = self._at.next.text
            if root == "\\sqrt" and len(digits) > 1:
                self._at.refuse("a root without braces")
            self._at.certain = self._at.certain and "." not in digits
            return _Factor("bare root", RadicalSum.rational(self._at.numeral()).root())
        if root != "\\sqrt" and self._at.take("("):
            number, _ = self.sum()
            self._at.need(")")
            return _Factor("root", number.root())
        return _Factor("root", self._braced().root())

    def _power(self, base: _Factor) -> _Factor:
        """Return the factor to the power behind it, if there is one that is no sign of degrees."""
        exponent = 1
        if self._at.next.text in _SUPERSCRIPTS and not self._at.next.spaced:
            exponent = _SUPERSCRIPTS[self._at.next.text]
            self._at.position += 1
        elif self._at.next.text == "^" and not self._is_degree():
            self._at.position += 1
            braced = self._at.take("{")
            digits = self._at.next.text
            if self._at.next.kind != "number" or digits not in set("23456789"):
                self._at.refuse("a power")
            self._at.position += 1
            if braced:
                self._at.need("}")
            exponent = int(digits)
        if exponent == 1:
            return base
        self._at.certain = False
        number = base.number
        for _ in range(exponent - 1):
            number = number * base.number
        return _Factor("power", number)

    def _is_degree(self) -> bool:
        r"""Whether ``\circ`` or ``{\circ}`` stands behind the next sign."""
        first, second = self._at.ahead(1).text, self._at.ahead(2).text
        return first == "\\circ" or (first, second) == ("{", "\\circ")
