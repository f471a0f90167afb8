"""Reading names: letters with their primes and subscripts, words, and letters in a font of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import sympy

from pytest_llmeval.scoring.eed import guards
from pytest_llmeval.scoring.eed.commands import ACCENTS, ALPHABETS, FUNCTIONS
from pytest_llmeval.scoring.eed.functions import function
from pytest_llmeval.scoring.eed.guards import Refused
from pytest_llmeval.scoring.eed.symbols import symbol

if TYPE_CHECKING:
    from pytest_llmeval.scoring.eed.latex import Reader

_LETTER_CONSTANTS = {"e": sympy.E}
_QUOTIENT_OF_UNITS = re.compile(r"[A-Za-z]+(?:/[A-Za-z]+)+")
_VECTOR = re.compile(r"vec\{(.+?)\}(.*)")


def named(reader: Reader, letter: str) -> sympy.Expr:
    """Return the symbol of that name with the primes and subscripts that follow, raised if x^2_1 says so."""
    name, power = letter, None
    while True:
        if reader.cursor.take_mark("'"):
            name += "'"
        elif reader.cursor.take_mark("_"):
            name += f"_{reader.cursor.script()}"
        elif primes := _raised_primes(reader):
            name += primes
        elif power is None and _subscript_follows_exponent(reader):
            reader.cursor.take()
            power = reader.exponent()
        else:
            break
    value = _LETTER_CONSTANTS.get(name, symbol(name))
    return value if power is None else guards.power(value, power)


def _raised_primes(reader: Reader) -> str:
    """Take an exponent that is nothing but primes."""
    start = reader.cursor.position
    if reader.cursor.take_mark("^"):
        decoration = reader.decoration()
        if decoration and not decoration.strip("'"):
            return decoration
    reader.cursor.position = start
    return ""


def _subscript_follows_exponent(reader: Reader) -> bool:
    start = reader.cursor.position
    follows = False
    if reader.cursor.take_mark("^") and not reader.decoration():
        reader.cursor.group()
        follows = reader.cursor.here.is_mark("_")
    reader.cursor.position = start
    return follows


def text(reader: Reader, words: str) -> sympy.Expr:
    r"""Read what ``\text{}`` holds: a function, a quotient of units, or a name."""
    name = words.strip()
    if name in FUNCTIONS:
        return function(reader, name)
    if _QUOTIENT_OF_UNITS.fullmatch(name):
        *over, last = (symbol(unit) for unit in name.split("/"))
        power = (
            reader.exponent() if reader.cursor.take_mark("^") else sympy.Integer(1)
        )  # of the last unit alone
        return over[0] / sympy.Mul(*over[1:], guards.power(last, power))
    if not (name.isalnum() and name.isascii()):
        msg = f"text inside the formula: {words!r}"
        raise Refused(msg)
    return named(reader, name)


def styled(reader: Reader, font: str) -> sympy.Expr:
    r"""Read ``\mathrm{...}`` and its like: letters are one name, or a function; anything else is a group."""
    if not reader.cursor.here.is_mark("{"):
        return reader.base()
    start = reader.cursor.position
    inside = reader.cursor.group()
    if inside and all(token.kind in ("letter", "number") for token in inside):
        name = "".join(token.text for token in inside)
        return (
            function(reader, name)
            if name in FUNCTIONS or font == "operatorname"
            else named(reader, name)
        )
    reader.cursor.position = start
    return reader.braced()


def accented(reader: Reader, command: str) -> sympy.Expr:
    r"""Read what stands behind ``\hat``, ``\mathcal`` and the like: a symbol of its own."""
    letter, underscore, subscript = reader.cursor.script().partition("_")
    return named(
        reader, f"{ACCENTS.get(command) or ALPHABETS[command]}{{{letter}}}{underscore}{subscript}"
    )


def magnitude(value: sympy.Expr) -> sympy.Expr:
    r"""Return an absolute value; that of a vector is its letter: ``|\vec v|`` is v."""
    vector = _VECTOR.fullmatch(value.name) if value.is_Symbol else None
    return sympy.Abs(value) if vector is None else symbol(vector[1] + vector[2])
