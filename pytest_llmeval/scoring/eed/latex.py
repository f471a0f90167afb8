"""The corrected reader: LaTeX as physicists write it, read into sympy with positive symbols.

A recursive-descent parser of its own. What it cannot give a meaning (a relation, a tuple, a
derivative of an unknown) becomes an undefined function of its parts, which is equal to itself and
to nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy

from pytest_llmeval.scoring.eed import guards, names
from pytest_llmeval.scoring.eed.calculus import CALCULUS
from pytest_llmeval.scoring.eed.commands import (
    ACCENTS,
    ALPHABETS,
    APPROXIMATELY,
    EQUALS,
    FONTS,
    FUNCTIONS,
    GREEK,
    INEQUALITIES,
    VECTOR_FONTS,
)
from pytest_llmeval.scoring.eed.constructs import CONSTRUCTS
from pytest_llmeval.scoring.eed.cursor import END, Cursor, shown
from pytest_llmeval.scoring.eed.functions import function
from pytest_llmeval.scoring.eed.guards import Refused
from pytest_llmeval.scoring.eed.symbols import opaque, symbol
from pytest_llmeval.scoring.eed.tokens import Token

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_SIGNS = ("+", "-")
_PERCENT = sympy.Rational(1, 100)
_DEGREE = sympy.pi / 180
_COMMAND_CONSTANTS = {
    "pi": sympy.pi,
    "infty": sympy.oo,
    "infinity": sympy.oo,
    "circ": _DEGREE,
    "degree": _DEGREE,
}
_READERS = {**CONSTRUCTS, **CALCULUS}
_EXACT = 10**15  # beyond it a decimal is no exact integer
_PRODUCTS = ("cdot", "times", "wedge")
_NO_FACTOR = frozenset(
    {*_PRODUCTS, "vee", "pm", "mp", "rangle", "rfloor", "rceil", "end", "newline", "quad", "qquad"}
    | EQUALS
    | APPROXIMATELY
    | INEQUALITIES.keys()
)
"""Commands that no factor starts with."""


def parse(tokens: Sequence[Token]) -> sympy.Expr:
    """Return the expression that the tokens write; Refused, with the reason, when they write none."""
    if not tokens:
        msg = "no formula"
        raise Refused(msg)
    reader = Reader(tokens)
    expression = reader.expression()
    if not reader.cursor.done:
        msg = f"unexpected {shown(reader.cursor.here)}"
        raise Refused(msg)
    return expression


class Reader:
    """One pass over the tokens; every method reads what it is named for and leaves the cursor behind it."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        """Read from these tokens."""
        self.cursor = Cursor(tokens)
        self._open_bars = 0
        self._last_factor: sympy.Expr = sympy.Integer(1)
        self._after_vector = False

    @staticmethod
    def parse(tokens: Sequence[Token]) -> sympy.Expr:
        """Read other tokens, all of them."""
        return parse(tokens)

    def expression(self) -> sympy.Expr:
        """Read a sum, with a plus-minus sign as a symbol of its own."""
        total = self.sign() * self.term()
        while self._at_sign():
            total = total + self.sign() * self.term()
        return total

    def _at_sign(self) -> bool:
        return self.cursor.here.is_mark(*_SIGNS) or self.cursor.here.is_command("pm", "mp")

    def sign(self) -> sympy.Expr:
        """Read any signs."""
        value: sympy.Expr = sympy.Integer(1)
        while self._at_sign():
            token = self.cursor.take()
            if token.kind == "command":
                value = value * symbol("pm") * (1 if token.text == "pm" else -1)
            elif token.text == "-":
                value = -value
        return value

    def term(self) -> sympy.Expr:
        """Read a product; ``/`` divides by all that is written together behind it, but 1/2 m is m/2."""
        value = self.product()
        while True:
            if self.cursor.here.is_mark("*") or self.cursor.here.is_command(*_PRODUCTS):
                value = self._multiplied(value)
            elif self.cursor.take_mark("/"):
                sign = self.sign()
                fraction = value.is_Rational and self.cursor.here.kind == "number"
                value = value * sign / (self.factor() if fraction else self.product())
            elif self.starts_factor():
                value = value * self.product()
            else:
                return value

    def _multiplied(self, value: sympy.Expr) -> sympy.Expr:
        r"""Read an explicit multiplication; ``\times`` between two vectors is the cross product of these."""
        operator, left = self.cursor.take(), self._last_factor
        if operator.text in ("times", "wedge") and self._after_vector and self._at_vector():
            return value / left * _cross(left, self.factor())
        return value * self.sign() * self.product()

    def product(self) -> sympy.Expr:
        """Read factors that are written together."""
        value = sympy.Integer(1)
        while True:
            vector = self._at_vector()
            factor = self.factor()
            self._after_vector, self._last_factor = vector, factor
            value = value * factor
            if not self.starts_factor():
                return value

    def _at_vector(self) -> bool:
        return self.cursor.here.is_command(*VECTOR_FONTS, "nabla")

    def starts_factor(self) -> bool:
        """Tell whether a factor can start here."""
        token = self.cursor.here
        if token is END:
            return False
        if token.kind == "mark":
            return token.text in _CLOSING or (token.text == "|" and not self._open_bars)
        return token.kind != "command" or token.text not in _NO_FACTOR

    def factor(self) -> sympy.Expr:
        """Read one factor with its exponents, factorials and the like."""
        return self.postfixed(self.base())

    def postfixed(self, value: sympy.Expr) -> sympy.Expr:
        """Read what follows a factor's base."""
        while mark := self.cursor.take_mark("^", "_", "!", "%"):
            match mark:
                case "^":
                    value = self._raised(value)
                case "_":
                    value = opaque(f"at_{self.cursor.script()}", value)
                case "!":
                    value = guards.factorial(value)
                case _:
                    value = value * _PERCENT
        return value

    def _raised(self, value: sympy.Expr) -> sympy.Expr:
        decoration = self.decoration()
        if decoration == "circ":
            return value * _DEGREE
        return (
            opaque(f"with_{decoration}", value)
            if decoration
            else guards.power(value, self.exponent())
        )

    def decoration(self) -> str:
        """Take a superscript that marks a symbol instead of raising it: a star, a dagger, a sign, a degree."""
        start = self.cursor.position
        inside = self.cursor.group()
        marks = all(
            token.is_command("prime", "dagger", "star", "parallel", "perp", "circ")
            or token.is_mark("*", "'", *_SIGNS)
            for token in inside
        )
        # e^-x, although LaTeX would raise the sign alone
        signed = inside[0].is_mark(*_SIGNS) if inside else False
        bare = self.cursor.position == start + 1 and self.cursor.here.kind in (
            "number",
            "letter",
            "command",
        )
        if inside and marks and not (signed and bare):
            return "".join("'" if token.text == "prime" else token.text for token in inside)
        self.cursor.position = start
        return ""

    def exponent(self) -> sympy.Expr:
        """Read what stands behind ``^``: a group, or a sign and one base."""
        return self.group() if self.cursor.here.is_mark("{") else self.sign() * self.base()

    def argument(self) -> sympy.Expr:
        r"""Read what a command such as ``\frac`` takes: a group, or a single digit, letter or command."""
        if self.cursor.here.is_mark("{"):
            return self.group()
        self.cursor.first_digit()
        return self.base()

    def base(self) -> sympy.Expr:  # noqa: PLR0911 - one return a kind of token
        """Read a number, a name, a command or a bracket."""
        if self.cursor.here.is_mark("{"):
            return self.braced()
        token = self.cursor.take()
        match token.kind:
            case "number":
                return _number(token.text)
            case "letter" if token.text.isascii():
                return names.named(self, token.text)
            case "text":
                return names.text(self, token.text)
            case "command":
                return self._command(token.text)
        if token.is_mark("(", "["):
            return self.bracketed(_CLOSING[token.text])
        if token.is_mark("|"):
            return self._absolute()
        msg = f"unexpected {shown(token)}"
        raise Refused(msg)

    def braced(self) -> sympy.Expr:
        """Read a braced group; ``{x}_{0}`` is x_0."""
        value = self.group()
        if value.is_Symbol and self.cursor.here.is_mark("_", "'"):
            return names.named(self, value.name)
        return value

    def group(self) -> sympy.Expr:
        """Read a braced group."""
        self.cursor.expect(Token("mark", "{"))
        return self.bracketed("}")

    def bracketed(self, closing: str) -> sympy.Expr:
        """Read up to a closing bracket; several expressions between commas are a tuple, and [a, b) is one too."""
        bars, self._open_bars = self._open_bars, 0
        values = [self.expression()]
        while self.cursor.take_mark(",", ";"):
            values.append(self.expression())
        if not self.cursor.take_mark(*(("}",) if closing == "}" else (")", "]"))):
            msg = f"expected {closing!r}, found {shown(self.cursor.here)}"
            raise Refused(msg)
        self._open_bars = bars
        return values[0] if len(values) == 1 else opaque("tuple", *values)

    def separated(self) -> list[sympy.Expr]:
        """Read expressions between bars, as in a bracket of states; the bars do not open an absolute value."""
        self._open_bars += 1
        values = [self.expression()]
        while self.cursor.take_mark("|"):
            values.append(self.expression())
        self._open_bars -= 1
        return values

    def _absolute(self) -> sympy.Expr:
        self._open_bars += 1
        value = self.expression()
        self.cursor.expect(Token("mark", "|"))
        self._open_bars -= 1
        return names.magnitude(value)

    def _command(self, name: str) -> sympy.Expr:
        if name in _COMMAND_CONSTANTS and not self.cursor.here.is_mark("_"):
            return _COMMAND_CONSTANTS[name]
        if name in FUNCTIONS or (name == "Gamma" and self.cursor.here.is_mark("(")):
            return function(self, name)
        if name in GREEK or name in _COMMAND_CONSTANTS:
            return names.named(self, name)
        if name in ACCENTS or name in ALPHABETS:
            return names.accented(self, name)
        if name in FONTS:
            return names.styled(self, name)
        if name not in _READERS:
            msg = f"unknown command \\{name}"
            raise Refused(msg)
        return _READERS[name](self)


def _cross(left: sympy.Expr, right: sympy.Expr) -> sympy.Expr:
    """Return a cross product; exchanging the two changes its sign."""
    if str(right) < str(left):
        return -opaque("cross", right, left)
    return opaque("cross", left, right)


def _number(text: str) -> sympy.Expr:
    """Return an exact integer, also for 3.0; any other decimal is a Float, as whoever wrote it rounded it."""
    if "." not in text:
        return sympy.Integer(int(text))
    number = float(text)
    return (
        sympy.Integer(int(number))
        if number.is_integer() and abs(number) < _EXACT
        else sympy.Float(text)
    )
