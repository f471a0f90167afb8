"""Reading states of quantum mechanics: kets, bras, brackets and means."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy

from pytest_llmeval.scoring.eed.reader.cursor import written
from pytest_llmeval.scoring.eed.reader.guards import FormulaError
from pytest_llmeval.scoring.eed.reader.reader import Reader
from pytest_llmeval.scoring.eed.reader.symbols import opaque
from pytest_llmeval.scoring.eed.reader.token import Token

_BAR = Token("mark", "|")


def _read_command(name: str) -> Callable[[Reader], sympy.Expr]:
    def read(reader: Reader) -> sympy.Expr:
        inside = reader.cursor.group()
        if name == "ket":
            return _ket(reader, inside)
        if name == "bra":
            return _bra(reader, inside)
        parts = [inside]
        while reader.cursor.here.is_mark("{"):
            parts.append(reader.cursor.group())
        return _bracket(reader, parts if len(parts) > 1 else _split(inside))

    return read


def _split(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token == _BAR:
            parts.append([])
        else:
            parts[-1].append(token)
    return [*parts]


def _ket(reader: Reader, inside: Sequence[Token]) -> sympy.Expr:
    return sympy.Symbol(f"|{_label(reader, inside)}>", commutative=False)


def _bra(reader: Reader, inside: Sequence[Token]) -> sympy.Expr:
    return sympy.Symbol(f"<{_label(reader, inside)}|", commutative=False)


def _bracket(reader: Reader, parts: Sequence[Sequence[Token]]) -> sympy.Expr:
    """Return a mean of one part, or the symbol of a bracket of two or three."""
    if len(parts) == 1:
        return opaque("mean", reader.parse(parts[0]))
    return sympy.Symbol(f"<{'|'.join(_label(reader, part) for part in parts)}>")


def _label(reader: Reader, tokens: Sequence[Token]) -> str:
    """Return the name of a state: what stands in it, sums and products in their normal order."""
    return ",".join(_part(reader, part) for part in _at_commas(tokens))


def _at_commas(tokens: Sequence[Token]) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.is_mark(","):
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _part(reader: Reader, tokens: Sequence[Token]) -> str:
    if any(token.is_mark("+", "-", "/", "*", "^") for token in tokens):
        try:
            return str(sympy.expand(reader.parse(tokens)))
        except FormulaError:
            pass  # a sign alone, as in |+>
    return written(tokens).replace("hat{", "").replace("hat", "")


STATES: dict[str, Callable[[Reader], sympy.Expr]] = {
    "ket": _read_command("ket"),
    "bra": _read_command("bra"),
    "braket": _read_command("braket"),
    "mean": _read_command("braket"),
}
"""The reading function of each command."""
