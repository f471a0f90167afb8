"""The corrected reader: LaTeX as physicists write it, to sympy expressions with positive symbols.

What has no meaning in algebra (a tuple inside a formula, the derivative of an unknown function)
becomes an undefined function of its parts, which is equal to itself only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy

from pytest_llmeval.scoring.eed.reader.calculus import CALCULUS
from pytest_llmeval.scoring.eed.reader.commands import ACCENTS, ALPHABETS, FONTS, FUNCTIONS, GREEK
from pytest_llmeval.scoring.eed.reader.constructs import CONSTRUCTS
from pytest_llmeval.scoring.eed.reader.functions import read_function
from pytest_llmeval.scoring.eed.reader.guards import FormulaError
from pytest_llmeval.scoring.eed.reader.names import read_accented, read_name, read_styled, read_text
from pytest_llmeval.scoring.eed.reader.notation import PLAIN, Notation
from pytest_llmeval.scoring.eed.reader.reader import Extension, Extensions, Reader
from pytest_llmeval.scoring.eed.reader.states import STATES
from pytest_llmeval.scoring.eed.reader.symbols import DEGREE
from pytest_llmeval.scoring.eed.reader.token import Token

_CONSTANTS = {
    "pi": sympy.pi,
    "infty": sympy.oo,
    "infinity": sympy.oo,
    "circ": DEGREE,
    "degree": DEGREE,
}


def _alone(read: Callable[[Reader], sympy.Expr]) -> Extension:
    """Return a reading function that need not know the command that it stands behind."""
    return lambda reader, _name: read(reader)


_READERS: dict[str, Extension] = {
    **{name: _alone(read) for name, read in {**CONSTRUCTS, **CALCULUS, **STATES}.items()},
    **dict.fromkeys([*ACCENTS, *ALPHABETS], read_accented),
    **dict.fromkeys(FONTS, read_styled),
}


def parse(tokens: Sequence[Token], notation: Notation = PLAIN) -> sympy.Expr:
    """Return the expression of the tokens.

    Raises:
        FormulaError: they are not one expression, or exceed a limit; the message is the reason.
    """
    return reader_of(tokens, notation).formula()


def reader_of(tokens: Sequence[Token], notation: Notation = PLAIN) -> Reader:
    """Return a reader of the tokens."""
    return Reader(tokens, _EXTENSIONS, notation)


def _read_command(reader: Reader, name: str) -> sympy.Expr:
    """Read a command behind its name."""
    subscript = reader.cursor.here.is_mark("_")
    if name in _CONSTANTS and not subscript:
        return _CONSTANTS[name]
    if name in FUNCTIONS or (name == "Gamma" and reader.cursor.here.is_mark("(")):
        return read_function(reader, name)
    derivative = name == "partial" and subscript and not reader.notation.tensors
    if (name in GREEK or name in _CONSTANTS) and not derivative:
        return read_name(reader, name)
    return _READERS.get(name, _read_other)(reader, name)


def _read_other(_reader: Reader, name: str) -> sympy.Expr:
    msg = f"unknown command \\{name}"
    raise FormulaError(msg)


_EXTENSIONS = Extensions(name=read_name, text=read_text, command=_read_command)
