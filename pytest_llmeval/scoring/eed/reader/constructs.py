"""Reading fractions, roots, brackets written as commands, and environments."""

from __future__ import annotations

from collections.abc import Callable

import sympy

from pytest_llmeval.scoring.eed.reader import guards
from pytest_llmeval.scoring.eed.reader.calculus import read_derivative
from pytest_llmeval.scoring.eed.reader.cursor import written
from pytest_llmeval.scoring.eed.reader.guards import FormulaError
from pytest_llmeval.scoring.eed.reader.reader import Reader
from pytest_llmeval.scoring.eed.reader.symbols import opaque, symbol
from pytest_llmeval.scoring.eed.reader.tokens import Token

_ROWS = ("cases", "dcases", "matrix", "pmatrix", "bmatrix", "vmatrix", "array")
_END_OF_CELL = ("newline", "end")


def _fraction(reader: Reader) -> sympy.Expr:
    derivative = read_derivative(reader)
    return reader.argument() / reader.argument() if derivative is None else derivative


def _root(reader: Reader) -> sympy.Expr:
    degree = reader.bracketed("]") if reader.cursor.take_mark("[") else sympy.Integer(2)
    return guards.power(reader.argument(), 1 / degree)


def _binomial(reader: Reader) -> sympy.Expr:
    return sympy.binomial(guards.small(reader.argument()), reader.argument())


def _mean(reader: Reader) -> sympy.Expr:
    r"""Read ``\langle x \rangle`` and ``\langle a | b \rangle``."""
    values = reader.separated()
    reader.cursor.expect(Token("command", "rangle"))
    return opaque("mean", *values)


def _enclosed(reader: Reader, closing: str) -> sympy.Expr:
    value = reader.expression()
    reader.cursor.expect(Token("command", closing))
    return value


def _environment(reader: Reader) -> sympy.Expr:
    """Read ``cases`` or a matrix as an undefined function of its cells."""
    name = reader.cursor.script().rstrip("*")
    if name not in _ROWS:
        msg = f"unknown environment {name}"
        raise FormulaError(msg)
    if name == "array" and reader.cursor.here.is_mark("{"):
        reader.cursor.group()
    cells: list[sympy.Expr] = []
    while not reader.cursor.here.is_command("end"):
        if reader.cursor.done:
            msg = f"environment {name} never ends"
            raise FormulaError(msg)
        if reader.cursor.take_mark("&") or reader.cursor.here.is_command("newline"):
            reader.cursor.position += reader.cursor.here.is_command("newline")
        else:
            cells.append(_cell(reader))
    reader.cursor.take()
    reader.cursor.group()
    return opaque(name, *cells)


def _cell(reader: Reader) -> sympy.Expr:
    """Read one cell; one that is not an expression, such as a condition, becomes a symbol."""
    start, depth = reader.cursor.position, 0
    while not reader.cursor.done:
        token = reader.cursor.here
        depth += token.is_mark("{", "(") - token.is_mark("}", ")")
        if depth == 0 and (token.is_mark("&") or token.is_command(*_END_OF_CELL)):
            break
        reader.cursor.take()
    cell = reader.cursor.since(start)
    while cell and (cell[-1].is_mark(",", ".", ";") or cell[-1].is_command("quad", "qquad")):
        cell = cell[:-1]
    try:
        return reader.parse(cell)
    except FormulaError:
        return symbol(written(cell) or "empty")


CONSTRUCTS: dict[str, Callable[[Reader], sympy.Expr]] = {
    "frac": _fraction,
    "sqrt": _root,
    "binom": _binomial,
    "langle": _mean,
    "lfloor": lambda reader: sympy.floor(_enclosed(reader, "rfloor")),
    "lceil": lambda reader: sympy.ceiling(_enclosed(reader, "rceil")),
    "begin": _environment,
    "ldots": lambda _reader: symbol("ldots"),
    "cdots": lambda _reader: symbol("ldots"),
}
"""The reading function of each command."""
