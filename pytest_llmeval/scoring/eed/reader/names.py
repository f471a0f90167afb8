"""Reading names: letters with primes and subscripts, words, accented and styled letters."""

from __future__ import annotations

import re

import sympy

from pytest_llmeval.scoring.eed.reader import guards
from pytest_llmeval.scoring.eed.reader.commands import ACCENTS, ALPHABETS, FUNCTIONS
from pytest_llmeval.scoring.eed.reader.functions import read_function
from pytest_llmeval.scoring.eed.reader.guards import FormulaError
from pytest_llmeval.scoring.eed.reader.reader import Reader
from pytest_llmeval.scoring.eed.reader.symbols import symbol

_LETTER_CONSTANTS = {"e": sympy.E}
_QUOTIENT_OF_UNITS = re.compile(r"[A-Za-z]+(?:/[A-Za-z]+)+")


def read_name(reader: Reader, letter: str) -> sympy.Expr:
    """Read the primes and subscripts behind a letter, and the exponent of ``x^2_1``."""
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
    """Take an exponent of primes only; return "" and leave it if it is another."""
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


def read_text(reader: Reader, words: str) -> sympy.Expr:
    r"""Read the content of ``\text{}``: a function, a quotient of units, or a name."""
    name = words.strip()
    if name in FUNCTIONS:
        return read_function(reader, name)
    if _QUOTIENT_OF_UNITS.fullmatch(name):
        *over, last = (symbol(unit) for unit in name.split("/"))
        # An exponent applies to the last unit only.
        power = reader.exponent() if reader.cursor.take_mark("^") else sympy.Integer(1)
        return over[0] / sympy.Mul(*over[1:], guards.power(last, power))
    if not (name.isalnum() and name.isascii()):
        msg = f"text inside the formula: {words!r}"
        raise FormulaError(msg)
    return read_name(reader, name)


def read_styled(reader: Reader, font: str) -> sympy.Expr:
    r"""Read the argument of a font such as ``\mathrm``.

    Letters and digits are one name, or a function; anything else is read as a group.
    """
    if not reader.cursor.here.is_mark("{"):
        return reader.base()
    start = reader.cursor.position
    inside = reader.cursor.group()
    if inside and all(token.kind in ("letter", "number") for token in inside):
        name = "".join(token.text for token in inside)
        if name in FUNCTIONS or font == "operatorname":
            return read_function(reader, name)
        return read_name(reader, name)
    reader.cursor.position = start
    return reader.braced()


def read_accented(reader: Reader, command: str) -> sympy.Expr:
    r"""Read the argument of ``\hat``, ``\mathcal`` and the like; the result is another symbol."""
    letter, underscore, subscript = reader.cursor.script().partition("_")
    accent = ACCENTS.get(command) or ALPHABETS[command]
    return read_name(reader, f"{accent}{{{letter}}}{underscore}{subscript}")
