"""The core of the corrected reader: sums, products, factors, scripts and brackets.

A recursive-descent parser from LaTeX tokens to sympy expressions. Names, text and commands are read
by the functions of `Extensions`, which `latex` passes to the constructor.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

import sympy

from pytest_llmeval.scoring.eed.reader import guards
from pytest_llmeval.scoring.eed.reader.commands import (
    APPROXIMATELY,
    EQUALS,
    INEQUALITIES,
)
from pytest_llmeval.scoring.eed.reader.cursor import END, Cursor, shown, written
from pytest_llmeval.scoring.eed.reader.guards import FormulaError
from pytest_llmeval.scoring.eed.reader.notation import PLAIN, Notation
from pytest_llmeval.scoring.eed.reader.symbols import (
    MATRIX,
    cross,
    decorated,
    is_vector,
    magnitude,
    number,
    opaque,
    product,
    symbol,
    total,
)
from pytest_llmeval.scoring.eed.reader.token import Token

_CLOSING = {"(": ")", "[": "]", "{": "}", "\\{": "\\}"}
_SIGNS = ("+", "-")
_MOST_MARKS = 8
_SMALL_POWER = re.compile(r"-?\d")
_PERCENT = sympy.Rational(1, 100)
_PRODUCTS = ("cdot", "times", "wedge", "otimes")
PLUS_MINUS = symbol("pm")
_NO_FACTOR = frozenset(
    {*_PRODUCTS, "vee", "pm", "mp", "rangle", "rfloor", "rceil", "end", "newline", "quad", "qquad"}
    | {"over", "choose", "parallel", "pmod", "bmod", "mod", "cup", "cap", "setminus", "in", "notin"}
    | EQUALS
    | APPROXIMATELY
    | INEQUALITIES.keys()
)
"""Commands that cannot start a factor."""


class Reader:
    """One pass over the tokens of a formula.

    Every method reads the construct that it is named for and leaves the cursor behind it.
    """

    def __init__(
        self, tokens: Sequence[Token], extensions: Extensions, notation: Notation = PLAIN
    ) -> None:
        """Start before the first token."""
        self.cursor = Cursor(tokens)
        self.notation = notation
        self._extensions = extensions
        self._open_bars = 0

    def over(self, tokens: Sequence[Token]) -> Self:
        """Return a reader of other tokens, with the same extensions and notation."""
        return type(self)(tokens, self._extensions, self.notation)

    def parse(self, tokens: Sequence[Token]) -> sympy.Expr:
        """Return the expression of other tokens."""
        return self.over(tokens).formula()

    def symbol(self, name: str) -> sympy.Symbol:
        """Return the symbol of a name: positive, unless the notation says otherwise."""
        letter = name.partition("_")[0].rstrip("'")
        if letter in self.notation.conjugated:
            return sympy.Symbol(name)
        if letter in self.notation.operators or letter.startswith("hat{"):
            plain = letter.removeprefix("hat{").removesuffix("}")
            if plain in self.notation.operators:
                return sympy.Symbol(f"hat{{{plain}}}{name[len(letter) :]}", commutative=False)
        return sympy.Symbol(name, real=True) if self.notation.signed else symbol(name)

    def formula(self) -> sympy.Expr:
        """Read all tokens; FormulaError, with the reason, if they are not one expression."""
        if not self.cursor.rest:
            msg = "no formula"
            raise FormulaError(msg)
        try:
            return self._whole()
        except FormulaError as error:
            if error.behind:
                raise
            raise FormulaError(str(error), self.cursor.behind) from None

    def _whole(self) -> sympy.Expr:
        expression = self.expression()
        if not self.cursor.done:
            msg = f"unexpected {shown(self.cursor.here)}"
            raise FormulaError(msg)
        return expression

    def expression(self) -> sympy.Expr:
        r"""Read a sum; ``\pm`` is read as a factor, the symbol pm.

        ``\over`` and ``\choose`` divide the whole group that they stand in.
        """
        terms = [product([self.sign(), self.term()])]
        while self._at_sign():
            terms.append(product([self.sign(), self.term()]))
        value = total(terms)
        if self.cursor.here.is_command("pmod", "bmod", "mod"):
            residue = self.cursor.take().text == "pmod"
            modulus = self.argument()
            return opaque("Residue", value, modulus) if residue else sympy.Mod(value, modulus)
        if self.cursor.here.is_command("over", "choose"):
            over = self.cursor.take().text == "over"
            lower = self.expression()
            return value / lower if over else sympy.binomial(guards.small(value), lower)
        return value

    def _at_sign(self) -> bool:
        return self.cursor.here.is_mark(*_SIGNS) or self.cursor.here.is_command("pm", "mp")

    def sign(self) -> sympy.Expr:
        """Read any number of signs, also none, and return their product."""
        value: sympy.Expr = sympy.Integer(1)
        while self._at_sign():
            token = self.cursor.take()
            if token.kind == "command":
                value = value * PLUS_MINUS * (1 if token.text == "pm" else -1)
            elif token.text == "-":
                value = -value
        return value

    def term(self) -> sympy.Expr:
        r"""Read a product; ``/`` divides by all factors written together after it.

        Between two numbers it divides by the number alone, unless pi follows: 1/2 m is m/2, and
        1/2\pi is 1/(2\pi).
        """
        factors = self.product()
        while True:
            if self.cursor.here.is_mark("*") or self.cursor.here.is_command(*_PRODUCTS):
                self._multiply(factors)
            elif self.cursor.here.is_mark("/", ":"):
                self.cursor.take()
                factors.append(1 / self._divisor(factors))
            elif self.cursor.here.is_command("parallel"):
                self.cursor.take()
                factors = [1 / (1 / product(factors) + 1 / product(self.product()))]
            elif self.starts_factor():
                factors.extend(self.product())
            else:
                return product(factors)

    def _divisor(self, factors: Sequence[sympy.Expr]) -> sympy.Expr:
        """Read what follows a slash."""
        sign = self.sign()
        numbers = self.cursor.here.kind == "number" and not self.cursor.peek(1).is_command("pi")
        if numbers and (self.cursor.peek(1).spaced or all(item.is_Rational for item in factors)):
            return sign * self.factor()
        return sign * product(self.product())

    def _multiply(self, factors: list[sympy.Expr]) -> None:
        r"""Read an explicit multiplication; ``\times`` between two vectors is the cross product."""
        operator = self.cursor.take()
        if operator.text == "otimes":
            left, right = factors.pop(), product(self.product())
            ordered = not (left.is_commutative or right.is_commutative)
            factors.extend([left, right] if ordered else [opaque("otimes", left, right)])
            return
        sign, (right, *rest) = self.sign(), self.product()
        if operator.text in ("times", "wedge") and is_vector(factors[-1]) and is_vector(right):
            factors[-1] = cross(factors[-1], right)
            factors.extend([sign, *rest])
        else:
            factors.extend([sign, right, *rest])

    def product(self) -> list[sympy.Expr]:
        """Read factors that are written together."""
        factors: list[sympy.Expr] = []
        while True:
            factors.append(self._mixed() or self.factor())
            if not self.starts_factor():
                return factors

    def _mixed(self) -> sympy.Expr | None:
        r"""Read a mixed number such as ``3\frac{1}{2}``; None if here is something else."""
        whole, start = self.cursor.here, self.cursor.position
        if not (whole.text.isdigit() and self.cursor.peek(1).is_command("frac")):
            return None
        self.cursor.position += 2
        upper, lower = self.cursor.script(), self.cursor.script()
        proper = upper.isdigit() and lower.isdigit() and int(upper) < int(lower)
        if not proper or self.starts_factor() or (start and not self._starts_term(start)):
            self.cursor.position = start
            return None
        return number(whole.text) + sympy.Rational(int(upper), int(lower))

    def _starts_term(self, place: int) -> bool:
        return self.cursor.at(place - 1).is_mark(*_SIGNS, "(", "{", ",", "=")

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
        marks = 0
        while mark := self.cursor.take_mark("^", "_", "!", "%"):
            marks += 1
            if marks > _MOST_MARKS:
                msg = f"more than {_MOST_MARKS} exponents and the like on one base"
                raise FormulaError(msg)
            match mark:
                case "^":
                    value = self._raised(value)
                case "_":
                    value = opaque(f"at_{self.cursor.script()}", value)
                case "!" if self.cursor.take_mark("!"):
                    value = guards.double_factorial(value)
                case "!":
                    value = guards.factorial(value)
                case _:
                    value = value * _PERCENT
        return value

    def _raised(self, value: sympy.Expr) -> sympy.Expr:
        if isinstance(value, MATRIX):
            return self._matrix_power(value)
        if decoration := self.decoration():
            return decorated(value, decoration)
        if self._is_transposition(value):
            return opaque("transposed", value)
        return guards.power(value, self.exponent())

    def _is_transposition(self, value: sympy.Expr) -> bool:
        """Take the exponent T of a matrix or a product of matrices, named by capital letters."""
        names = [item for item in sympy.Mul.make_args(value) if item.is_Symbol]
        if len(names) < len(sympy.Mul.make_args(value)) or any(
            not item.name[0].isupper() for item in names
        ):
            return False
        start = self.cursor.position
        if written(self.cursor.group()) in ("T", "top"):
            return True
        self.cursor.position = start
        return False

    def _matrix_power(self, value: sympy.Matrix) -> sympy.Matrix:
        exponent = written(self.cursor.group())
        if exponent in ("T", "top"):
            return value.T
        if exponent in ("dagger", "*"):
            return value.H
        if not _SMALL_POWER.fullmatch(exponent):
            msg = f"a matrix to the power {exponent!r}"
            raise FormulaError(msg)
        return value ** int(exponent)

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
        if token.is_mark("(", "[", "\\{"):
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
        """Read up to a closing bracket; expressions between commas are a tuple or a set.

        Two operators in square brackets are their commutator.
        """
        bars, self._open_bars = self._open_bars, 0
        values = [self.expression()]
        while self.cursor.take_mark(",", ";"):
            values.append(self.expression())
        if not self.cursor.take_mark(closing, *(() if closing in "\\}" else (")", "]"))):
            msg = f"expected {closing!r}, found {shown(self.cursor.here)}"
            raise FormulaError(msg)
        self._open_bars = bars
        if len(values) == 1:
            return values[0]
        if closing in ("]", "\\}") and not any(value.is_commutative for value in values):
            left, right, *_ = values
            return left * right + (right * left if closing == "\\}" else -right * left)
        return opaque("Set" if closing == "\\}" else "Tuple", *values)

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
