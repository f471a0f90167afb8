"""The core of the corrected reader: sums, products, factors, scripts and brackets.

A recursive-descent parser from LaTeX tokens to sympy expressions. Names, text and commands are read
by the functions of `Extensions`, which `latex` passes to the constructor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

import sympy

from pytest_llmeval.scoring.eed.reader import guards
from pytest_llmeval.scoring.eed.reader.commands import (
    APPROXIMATELY,
    EQUALS,
    INEQUALITIES,
    VECTOR_FONTS,
)
from pytest_llmeval.scoring.eed.reader.cursor import END, Cursor, shown
from pytest_llmeval.scoring.eed.reader.guards import FormulaError
from pytest_llmeval.scoring.eed.reader.symbols import cross, magnitude, number, opaque, symbol
from pytest_llmeval.scoring.eed.reader.tokens import Token

DEGREE = sympy.pi / 180

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_SIGNS = ("+", "-")
_PERCENT = sympy.Rational(1, 100)
_PRODUCTS = ("cdot", "times", "wedge")
_NO_FACTOR = frozenset(
    {*_PRODUCTS, "vee", "pm", "mp", "rangle", "rfloor", "rceil", "end", "newline", "quad", "qquad"}
    | EQUALS
    | APPROXIMATELY
    | INEQUALITIES.keys()
)
"""Commands that cannot start a factor."""


class Reader:
    """One pass over the tokens of a formula.

    Every method reads the construct that it is named for and leaves the cursor behind it.
    """

    def __init__(self, tokens: Sequence[Token], extensions: Extensions) -> None:
        """Start before the first token."""
        self.cursor = Cursor(tokens)
        self._extensions = extensions
        self._open_bars = 0
        self._last_factor: sympy.Expr = sympy.Integer(1)
        self._after_vector = False

    def over(self, tokens: Sequence[Token]) -> Self:
        """Return a reader of other tokens, with the same extensions."""
        return type(self)(tokens, self._extensions)

    def parse(self, tokens: Sequence[Token]) -> sympy.Expr:
        """Return the expression of other tokens."""
        return self.over(tokens).formula()

    def formula(self) -> sympy.Expr:
        """Read all tokens; FormulaError, with the reason, if they are not one expression."""
        if not self.cursor.rest:
            msg = "no formula"
            raise FormulaError(msg)
        expression = self.expression()
        if not self.cursor.done:
            msg = f"unexpected {shown(self.cursor.here)}"
            raise FormulaError(msg)
        return expression

    def expression(self) -> sympy.Expr:
        r"""Read a sum; ``\pm`` is read as a factor, the symbol pm."""
        total = self.sign() * self.term()
        while self._at_sign():
            total = total + self.sign() * self.term()
        return total

    def _at_sign(self) -> bool:
        return self.cursor.here.is_mark(*_SIGNS) or self.cursor.here.is_command("pm", "mp")

    def sign(self) -> sympy.Expr:
        """Read any number of signs, also none, and return their product."""
        value: sympy.Expr = sympy.Integer(1)
        while self._at_sign():
            token = self.cursor.take()
            if token.kind == "command":
                value = value * symbol("pm") * (1 if token.text == "pm" else -1)
            elif token.text == "-":
                value = -value
        return value

    def term(self) -> sympy.Expr:
        """Read a product; ``/`` divides by all factors written together after it.

        Between two numbers it divides by the number alone: 1/2 m is m/2.
        """
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
        r"""Read an explicit multiplication; ``\times`` between two vectors is the cross product."""
        operator, left = self.cursor.take(), self._last_factor
        if operator.text in ("times", "wedge") and self._after_vector and self._at_vector():
            return value / left * cross(left, self.factor())
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
        """Return whether the next token can start a factor."""
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
        """Read the exponents, subscripts, factorials and percent signs after a base."""
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
            return value * DEGREE
        if decoration:
            return opaque(f"with_{decoration}", value)
        return guards.power(value, self.exponent())

    def decoration(self) -> str:
        """Take a superscript that decorates a symbol: a star, dagger, sign, prime or degree.

        Returns:
            The decoration as text; "" for an exponent, which is left unread.
        """
        start = self.cursor.position
        inside = self.cursor.group()
        marks = all(
            token.is_command("prime", "dagger", "star", "parallel", "perp", "circ")
            or token.is_mark("*", "'", *_SIGNS)
            for token in inside
        )
        # In e^-x the sign belongs to the exponent, although LaTeX would raise the sign alone.
        signed = bool(inside) and inside[0].is_mark(*_SIGNS)
        bare = self.cursor.position == start + 1
        operand = self.cursor.here.kind in ("number", "letter", "command")
        if inside and marks and not (signed and bare and operand):
            return "".join("'" if token.text == "prime" else token.text for token in inside)
        self.cursor.position = start
        return ""

    def exponent(self) -> sympy.Expr:
        """Read the exponent after ``^``: a group, or a sign and one base."""
        return self.group() if self.cursor.here.is_mark("{") else self.sign() * self.base()

    def argument(self) -> sympy.Expr:
        r"""Read the argument of a command such as ``\frac``: a group or one digit or token."""
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
                return number(token.text)
            case "letter" if token.text.isascii():
                return self._extensions.name(self, token.text)
            case "text":
                return self._extensions.text(self, token.text)
            case "command":
                return self._extensions.command(self, token.text)
        if token.is_mark("(", "["):
            return self.bracketed(_CLOSING[token.text])
        if token.is_mark("|"):
            return self._absolute()
        msg = f"unexpected {shown(token)}"
        raise FormulaError(msg)

    def braced(self) -> sympy.Expr:
        """Read a braced group; ``{x}_{0}`` is x_0."""
        value = self.group()
        if value.is_Symbol and self.cursor.here.is_mark("_", "'"):
            return self._extensions.name(self, value.name)
        return value

    def group(self) -> sympy.Expr:
        """Read the expression in a braced group."""
        self.cursor.expect(Token("mark", "{"))
        return self.bracketed("}")

    def bracketed(self, closing: str) -> sympy.Expr:
        """Read up to a closing bracket; expressions between commas are a tuple, also [a, b)."""
        bars, self._open_bars = self._open_bars, 0
        values = [self.expression()]
        while self.cursor.take_mark(",", ";"):
            values.append(self.expression())
        if not self.cursor.take_mark(*(("}",) if closing == "}" else (")", "]"))):
            msg = f"expected {closing!r}, found {shown(self.cursor.here)}"
            raise FormulaError(msg)
        self._open_bars = bars
        return values[0] if len(values) == 1 else opaque("tuple", *values)

    def separated(self) -> list[sympy.Expr]:
        r"""Read expressions separated by bars, as in ``\langle a | b \rangle``."""
        self._open_bars += 1
        values = [self.expression()]
        while self.cursor.take_mark("|"):
            values.append(self.expression())
        self._open_bars -= 1
        return values

    def _absolute(self) -> sympy.Expr:
        r"""Read an absolute value behind its first bar; that of a vector is its letter."""
        self._open_bars += 1
        value = self.expression()
        self.cursor.expect(Token("mark", "|"))
        self._open_bars -= 1
        return magnitude(value)


Extension: TypeAlias = Callable[[Reader, str], sympy.Expr]
"""Reads a construct behind its first token, whose text is the second argument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extensions:
    r"""The functions for what the core cannot read.

    Attributes:
        name: reads a letter with its primes and subscripts.
        text: reads the content of ``\text{}``.
        command: reads any other command.
    """

    name: Extension
    text: Extension
    command: Extension
