"""The corrected reader: LaTeX as physicists write it, to sympy expressions with positive symbols.

What has no meaning in algebra (a relation, a tuple, the derivative of an unknown function) becomes
an undefined function of its parts, which is equal to itself only.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy

from pytest_llmeval.scoring.eed.reader.calculus import CALCULUS
from pytest_llmeval.scoring.eed.reader.commands import ACCENTS, ALPHABETS, FONTS, FUNCTIONS, GREEK
from pytest_llmeval.scoring.eed.reader.constructs import CONSTRUCTS
from pytest_llmeval.scoring.eed.reader.functions import read_function
from pytest_llmeval.scoring.eed.reader.guards import FormulaError
from pytest_llmeval.scoring.eed.reader.names import read_accented, read_name, read_styled, read_text
from pytest_llmeval.scoring.eed.reader.reader import DEGREE, Extensions, Reader
from pytest_llmeval.scoring.eed.reader.tokens import Token

_CONSTANTS = {
    "pi": sympy.pi,
    "infty": sympy.oo,
    "infinity": sympy.oo,
    "circ": DEGREE,
    "degree": DEGREE,
}
_READERS = {**CONSTRUCTS, **CALCULUS}


def parse(tokens: Sequence[Token]) -> sympy.Expr:
    """Return the expression of the tokens.

    Raises:
        FormulaError: they are not one expression, or exceed a limit; the message is the reason.
    """
    return Reader(tokens, _EXTENSIONS).formula()


def _read_command(reader: Reader, name: str) -> sympy.Expr:
    """Read a command behind its name."""
    if name in _CONSTANTS and not reader.cursor.here.is_mark("_"):
        return _CONSTANTS[name]
    if name in FUNCTIONS or (name == "Gamma" and reader.cursor.here.is_mark("(")):
        return read_function(reader, name)
    if name in GREEK or name in _CONSTANTS:
        return read_name(reader, name)
    if name in ACCENTS or name in ALPHABETS:
        return read_accented(reader, name)
    if name in FONTS:
        return read_styled(reader, name)
    if name not in _READERS:
        msg = f"unknown command \\{name}"
        raise FormulaError(msg)
    return _READERS[name](reader)


_EXTENSIONS = Extensions(name=read_name, text=read_text, command=_read_command)
