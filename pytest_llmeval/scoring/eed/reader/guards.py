"""Limits on formulas, checked before sympy evaluates them.

A power tower, a huge factorial or a formula of a hundred thousand characters would keep sympy busy
without end, and such a computation cannot be interrupted.
"""

from __future__ import annotations

import math
import re

import sympy

MAX_LENGTH = 20_000  # characters; the longest public target has 700
MAX_DEPTH = 48  # nested brackets; the deepest public target has 9
MAX_DIGITS = 400  # of a number as written
MAX_POWER_DIGITS = 4_000  # of a number as computed
MAX_EXPONENT = 1_000  # of anything but a symbol
MAX_FACTORIAL = 500

_SHOWN_BITS = 64  # longer numbers are not shown in messages
_HALF = re.compile("[\ud800-\udfff]")
_LONG_NUMBER = re.compile(rf"\d{{{MAX_DIGITS + 1},}}")


class FormulaError(ValueError):
    """The formula exceeds a limit or cannot be read; the message is the reason to show.

    Attributes:
        behind: what was read before the place of the error, as LaTeX; "" if no place is known.
    """

    def __init__(self, reason: str, behind: str = "") -> None:
        """Store the reason, and the text before the place."""
        super().__init__(reason)
        self.behind = behind

    def __str__(self) -> str:
        """Return the reason, with the place."""
        reason = super().__str__()
        return f"{reason}, behind {self.behind!r}" if self.behind else reason


def reason_of(error: Exception) -> str:
    """Return why a formula could not be evaluated."""
    if isinstance(error, FormulaError):
        return str(error)
    if isinstance(error, RecursionError):
        return "nested too deeply"
    first_line = (str(error).splitlines() or [""])[0][:200]
    return f"cannot be evaluated: {type(error).__name__}: {first_line}"


def check_text(text: str) -> None:
    """Raise FormulaError if the text of a formula exceeds a limit."""
    if len(text) > MAX_LENGTH:
        msg = f"too long: {len(text):,} characters, at most {MAX_LENGTH:,}"
        raise FormulaError(msg)
    if "\0" in text:
        msg = "holds a NUL character"
        raise FormulaError(msg)
    if _HALF.search(text):
        msg = "holds half a character (a lone surrogate)"
        raise FormulaError(msg)
    if _LONG_NUMBER.search(text):
        msg = f"too large: a number of more than {MAX_DIGITS} digits"
        raise FormulaError(msg)
    if _depth(text) > MAX_DEPTH:
        msg = f"nested too deeply: more than {MAX_DEPTH} brackets inside each other"
        raise FormulaError(msg)


def _depth(text: str) -> int:
    depth = deepest = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth -= 1
    return deepest


def power(base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
    """Return the power; FormulaError if its numbers would be too large."""
    if exponent.is_Rational and not base.is_Symbol and base != sympy.E:
        size = abs(exponent.p) / exponent.q
        if size > MAX_EXPONENT or size * _most_digits(base) > MAX_POWER_DIGITS:
            msg = f"too large: the exponent {_short(exponent)}"
            raise FormulaError(msg)
    return sympy.Pow(base, exponent)


def factorial(argument: sympy.Expr) -> sympy.Expr:
    """Return the factorial; FormulaError if it is of a large number."""
    return sympy.factorial(small(argument))


def double_factorial(argument: sympy.Expr) -> sympy.Expr:
    """Return the double factorial; FormulaError for a large number, or one that has none."""
    number = small(argument)
    if number.is_Number and not (number.is_Integer and (number >= 0 or number.is_odd)):
        msg = "the double factorial of a number that has none"
        raise FormulaError(msg)
    return sympy.factorial2(number)


def small(argument: sympy.Expr) -> sympy.Expr:
    """Return the argument of a fast-growing function; FormulaError if it is a large number."""
    if argument.is_Rational and abs(argument) > MAX_FACTORIAL:
        msg = f"too large: the factorial of {_short(argument)}"
        raise FormulaError(msg)
    return argument


def _most_digits(base: sympy.Expr) -> float:
    """Return the decimal digits of the largest exact number in an expression."""
    numbers = base.atoms(sympy.Rational)
    return max((math.log10(max(abs(number.p), number.q, 1)) for number in numbers), default=0.0)


def _short(number: sympy.Rational) -> str:
    if max(abs(number.p), number.q).bit_length() > _SHOWN_BITS:
        return "of very many digits"
    return str(number)
