"""Reading fractions, roots, brackets written as commands, and environments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy

from pytest_llmeval.scoring.eed.reader import guards
from pytest_llmeval.scoring.eed.reader.calculus import read_derivative
from pytest_llmeval.scoring.eed.reader.conditions import read_condition
from pytest_llmeval.scoring.eed.reader.cursor import END
from pytest_llmeval.scoring.eed.reader.guards import FormulaError
from pytest_llmeval.scoring.eed.reader.reader import Reader
from pytest_llmeval.scoring.eed.reader.splitting import condition_split, is_condition
from pytest_llmeval.scoring.eed.reader.symbols import opaque
from pytest_llmeval.scoring.eed.reader.token import Token

_MATRICES = (
    "matrix",
    "pmatrix",
    "bmatrix",
    "Bmatrix",
    "smallmatrix",
    "array",
    "vmatrix",
    "Vmatrix",
)
_CASES = ("cases", "dcases", "rcases")
_END_OF_CELL = ("newline", "end")


def _fraction(reader: Reader) -> sympy.Expr:
    derivative = read_derivative(reader)
    return reader.argument() / reader.argument() if derivative is None else derivative


def _root(reader: Reader) -> sympy.Expr:
    degree = reader.bracketed("]") if reader.cursor.take_mark("[") else sympy.Integer(2)
    return guards.power(reader.argument(), 1 / degree)


def _binomial(reader: Reader) -> sympy.Expr:
    return sympy.binomial(guards.small(reader.argument()), reader.argument())


def _enclosed(reader: Reader, closing: str) -> sympy.Expr:
    value = reader.expression()
    reader.cursor.expect(Token("command", closing))
    return value


def _labelled(reader: Reader) -> sympy.Expr:
    r"""Read ``\underbrace{x}_{text}``, which is x."""
    value = reader.group()
    if reader.cursor.take_mark("_", "^"):
        reader.cursor.group()
    return value


def _environment(reader: Reader) -> sympy.Expr:
    """Read a matrix, a determinant or the cases of a function by regions."""
    name = reader.cursor.script().rstrip("*")
    if name not in (*_MATRICES, *_CASES):
        msg = f"unknown environment {name}"
        raise FormulaError(msg)
    if name == "array" and reader.cursor.here.is_mark("{"):
        reader.cursor.group()
    rows = _rows(reader, name)
    if name in _CASES or (name == "array" and _has_conditions(rows)):
        return opaque("Cases", *(_case(reader, row) for row in rows))
    entries = [[reader.parse(cell) for cell in row] for row in rows]
    if len({len(row) for row in entries}) != 1:
        msg = f"rows of different length in {name}"
        raise FormulaError(msg)
    matrix = sympy.ImmutableDenseMatrix(entries)
    if name != "vmatrix":
        return matrix
    if matrix.rows != matrix.cols or matrix.rows > _LARGEST_DETERMINANT:
        msg = f"the determinant of {matrix.rows} rows and {matrix.cols} columns"
        raise FormulaError(msg)
    return matrix.det(method="berkowitz")


_LARGEST_DETERMINANT = 6


def _rows(reader: Reader, name: str) -> list[list[Sequence[Token]]]:
    """Take the cells of an environment, row by row, and its end."""
    rows: list[list[Sequence[Token]]] = [[]]
    while True:
        rows[-1].append(_cell(reader))
        end = reader.cursor.take()
        if end.is_command("newline"):
            rows.append([])
        elif end.is_command("end"):
            reader.cursor.group()
            return [row for row in rows if any(row)]
        elif end is END:
            msg = f"environment {name} never ends"
            raise FormulaError(msg)


def _cell(reader: Reader) -> Sequence[Token]:
    """Take the tokens of one cell, without punctuation at its end."""
    start, depth = reader.cursor.position, 0
    while not reader.cursor.done:
        token = reader.cursor.here
        if depth == 0 and (token.is_mark("&") or token.is_command(*_END_OF_CELL)):
            break
        depth += token.nesting
        reader.cursor.take()
    cell = reader.cursor.since(start)
    while cell and (
        cell[-1].is_mark(",", ".", ";") or cell[-1].is_command("quad", "qquad", "hline")
    ):
        cell = cell[:-1]
    while cell and cell[0].is_command("hline", "quad", "qquad"):
        cell = cell[1:]
    return cell


def _has_conditions(rows: Sequence[Sequence[Sequence[Token]]]) -> bool:
    return all(len(row) == 2 and is_condition(row[1]) for row in rows)  # noqa: PLR2004 - value, condition


def _case(reader: Reader, row: Sequence[Sequence[Token]]) -> sympy.Expr:
    """Read one row of cases: a value and its condition, in two cells or behind a comma or text."""
    value, condition = (row[0], row[1]) if len(row) > 1 else condition_split(row[0])
    return opaque("Case", reader.parse(value), read_condition(reader, condition))


CONSTRUCTS: dict[str, Callable[[Reader], sympy.Expr]] = {
    "frac": _fraction,
    "sqrt": _root,
    "binom": _binomial,
    "lfloor": lambda reader: sympy.floor(_enclosed(reader, "rfloor")),
    "lceil": lambda reader: sympy.ceiling(_enclosed(reader, "rceil")),
    "begin": _environment,
    "underbrace": _labelled,
    "overbrace": _labelled,
    "overset": lambda reader: (reader.cursor.group(), reader.argument())[1],
    "underset": lambda reader: (reader.cursor.group(), reader.argument())[1],
    "ldots": lambda reader: reader.symbol("ldots"),
    "cdots": lambda reader: reader.symbol("ldots"),
}
"""The reading function of each command."""
