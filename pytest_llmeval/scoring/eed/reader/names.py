"""Reading names: letters with primes and subscripts, words, accented and styled letters."""

from __future__ import annotations

import re

import sympy

from pytest_llmeval.scoring.eed.reader import guards
from pytest_llmeval.scoring.eed.reader.commands import ACCENTS, ALPHABETS, FUNCTIONS, VECTOR_FONTS
from pytest_llmeval.scoring.eed.reader.cursor import written
from pytest_llmeval.scoring.eed.reader.functions import read_function, special_function
from pytest_llmeval.scoring.eed.reader.guards import FormulaError
from pytest_llmeval.scoring.eed.reader.indices import is_indices
from pytest_llmeval.scoring.eed.reader.reader import Reader
from pytest_llmeval.scoring.eed.reader.symbols import arguments_of, opaque

_LETTER_CONSTANTS = {"e": sympy.E}
_STATISTICS = frozenset({"E", "P"})
_WORDS = {"yes": "yes", "no": "no", "true": "true", "false": "false", "const": "C"}
"""Words that are answers, in whatever case, or stand for a letter."""
_QUOTIENT_OF_UNITS = re.compile(r"[A-Za-z]+(?:/[A-Za-z]+)+")


def read_name(reader: Reader, letter: str) -> sympy.Expr:
    """Read the primes and subscripts behind a letter, and the exponent of ``x^2_1``."""
    if letter == "i" and reader.notation.imaginary and not reader.cursor.here.is_mark("_", "'"):
        return sympy.I
    name, power = letter, None
    while True:
        if reader.cursor.take_mark("'"):
            name += "'"
        elif index := _index(reader, letter):
            name += index
        elif reader.cursor.take_mark("_"):
            subscript = reader.cursor.script()
            name += f"_{subscript}" if subscript else ""
        elif primes := _raised_primes(reader):
            name += primes
        elif power is None and _subscript_follows_exponent(reader):
            reader.cursor.take()
            power = reader.exponent()
        else:
            break
    value = _LETTER_CONSTANTS.get(name) or _called(reader, letter, name)
    return value if power is None else guards.power(value, power)


def _called(reader: Reader, letter: str, name: str) -> sympy.Expr:
    """Return the symbol of a name, or the function applied to the bracket behind it."""
    if letter in _STATISTICS and reader.cursor.here.is_mark("(", "["):
        special = _statistic(reader, name)
        if special is not None:
            return special
    if not reader.cursor.here.is_mark("("):
        return reader.symbol(name)
    start = reader.cursor.position
    special = special_function(reader, name)
    if special is not None:
        return special
    reader.cursor.position = start
    if letter in reader.notation.applied or name in ("O", "cal{O}"):
        reader.cursor.take()
        name = "O" if name == "cal{O}" else name
        return opaque(name, *arguments_of(reader.bracketed(")")))
    if letter in reader.notation.argued:
        reader.cursor.take()
        reader.bracketed(")")
    return reader.symbol(name)


def _statistic(reader: Reader, name: str) -> sympy.Expr | None:
    """Read an expectation E[X^2] or a probability P(A | B); None for a product such as E(x + y)."""
    start = reader.cursor.position
    square = reader.cursor.here.is_mark("[")
    inside = reader.cursor.bracket()
    conditional = sum(token.is_mark("|") for token in inside) == 1
    if not (square or conditional or any(token.is_command("cap", "cup") for token in inside)):
        reader.cursor.position = start
        return None
    try:
        return opaque(name, *arguments_of(reader.parse(inside)))
    except guards.FormulaError:
        return opaque(name, reader.symbol(written(inside)))


def _index(reader: Reader, letter: str) -> str:
    r"""Take a raised index of a tensor, or the ``{}`` that sets indices apart; "" for another."""
    if not reader.notation.tensors or letter == "e":
        return ""
    start = reader.cursor.position
    if reader.cursor.here.is_mark("{") and reader.cursor.peek(1).is_mark("}"):
        reader.cursor.position += 2
        if reader.cursor.here.is_mark("_", "^"):
            return _index(reader, letter) or f"_{_lower(reader)}"
    elif reader.cursor.take_mark("^"):
        inside = reader.cursor.group()
        if is_indices(inside):
            return f"^{written(inside, ',')}"
    elif reader.cursor.here.is_mark("_"):
        return f"_{_lower(reader)}"
    reader.cursor.position = start
    return ""


def _lower(reader: Reader) -> str:
    """Take a subscript; indices in it are separated by commas."""
    reader.cursor.take()
    inside = reader.cursor.group_or_fonts()
    return written(inside, "," if is_indices(inside) else "")


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
    name = _WORDS.get(words.strip().lower(), words.strip())
    if name in FUNCTIONS:
        return read_function(reader, name)
    if _QUOTIENT_OF_UNITS.fullmatch(name):
        *over, last = (reader.symbol(unit) for unit in name.split("/"))
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
    if font in VECTOR_FONTS and reader.notation.bold_vectors:
        return read_accented(reader, "vec")
    if not reader.cursor.here.is_mark("{"):
        return reader.base()
    start = reader.cursor.position
    inside = reader.cursor.group()
    if inside and all(token.kind in ("letter", "number") for token in inside):
        name = "".join(token.text for token in inside)
        name = _WORDS.get(name.lower(), name)
        if name in FUNCTIONS or font == "operatorname":
            return read_function(reader, name)
        return read_name(reader, name)
    reader.cursor.position = start
    return reader.braced()


def read_accented(reader: Reader, command: str) -> sympy.Expr:
    r"""Read the argument of ``\hat``, ``\mathcal`` and the like; the result is another symbol."""
    inside = reader.cursor.group_or_fonts()
    if any(token.is_command("nabla") for token in inside):
        return reader.symbol("nabla")
    letter, underscore, subscript = written(inside).partition("_")
    accent = ACCENTS.get(command) or ALPHABETS[command]
    if letter.startswith("hat") and accent == "vec":  # a bold unit vector
        accent, letter = "hat", letter.removeprefix("hat")
    return read_name(reader, f"{accent}{{{letter}}}{underscore}{subscript}")
