"""The statement of an answer or target: its formulas, and the type of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import sympy

from pytest_llmeval.scoring.eed.reader import latex
from pytest_llmeval.scoring.eed.reader.answer import (
    Answer,
    Assignment,
    Chain,
    Collection,
    Equation,
    Expression,
    Reading,
    Region,
)
from pytest_llmeval.scoring.eed.reader.brackets_around import (
    distributed,
    list_members,
    transposed,
    unwrapped,
)
from pytest_llmeval.scoring.eed.reader.commands import (
    APPROXIMATELY,
    CONCLUSIONS,
)
from pytest_llmeval.scoring.eed.reader.conditions import (
    RELATIONS,
    VARIABLE,
    image_of,
    is_set,
    membership,
    read_condition,
)
from pytest_llmeval.scoring.eed.reader.cursor import written
from pytest_llmeval.scoring.eed.reader.guards import FormulaError
from pytest_llmeval.scoring.eed.reader.left_sides import is_call, is_difference, is_law, is_quantity
from pytest_llmeval.scoring.eed.reader.notation import PLAIN, Notation
from pytest_llmeval.scoring.eed.reader.remarks import Piece, pieces_of
from pytest_llmeval.scoring.eed.reader.splitting import bounds, equates, split
from pytest_llmeval.scoring.eed.reader.symbols import MATRIX, opaque, with_triple_products
from pytest_llmeval.scoring.eed.reader.tensors import with_common_dummies
from pytest_llmeval.scoring.eed.reader.token import Token, Tokens
from pytest_llmeval.scoring.eed.reader.units import split_unit

_CROSS = sympy.Function("cross")
_DECIMALS = re.compile(r"\d*\.(\d+)")


def read(tokens: Tokens, notation: Notation = PLAIN, *, plain_units: bool = False) -> Reading:
    """Return the reading of the tokens of an answer or target.

    Args:
        tokens: as `tokens_of` returns them.
        notation: the meaning of ambiguous letters.
        plain_units: whether letters behind a number may be a unit, because the other side has one.

    Raises:
        FormulaError: there is no readable formula in them; the message is the reason.
    """
    statements, remarks = pieces_of(tokens)
    statements, counter = _without_counting(statements)
    reader = _Statements(notation, plain_units)
    if not statements:
        msg = "prose, not a formula" if tokens else "no formula"
        raise FormulaError(msg)
    answers = [reader.answer(piece.tokens) for piece in statements]
    definitions = tuple(reader.definitions(remarks))
    answer = _together(answers, statements)
    return Reading(answer=answer, definitions=definitions, counts_from=counter)


def _without_counting(pieces: list[Piece]) -> tuple[list[Piece], str]:
    r"""Return the pieces before a remark such as ``k = 0, 1, 2, \dots``, and its first number."""
    dots = [k for k, piece in enumerate(pieces) if piece.tokens[0].is_command("ldots", "cdots")]
    starts = [
        k
        for k, piece in enumerate(pieces)
        if k and len(piece.tokens) > 1 and piece.tokens[1].is_mark("=")
    ]
    if not (dots and starts and starts[-1] < dots[-1]):
        return pieces, ""
    return pieces[: starts[-1]], written(pieces[starts[-1]].tokens[2:])


def _together(answers: Sequence[Answer], pieces: Sequence[Piece]) -> Answer:
    """Return one answer for the pieces of a statement."""
    if not all(isinstance(answer, Region) for answer in answers):
        # A bound or "k in Z" beside an answer says where it holds.
        answers = [answer for answer in answers if not isinstance(answer, Region)]
    if len(answers) == 1:
        return answers[0]
    alternatives = any(piece.alternative for piece in pieces)
    regions = [answer for answer in answers if isinstance(answer, Region)]
    if len(regions) == len(answers):
        head = "Any" if alternatives else "All"
        return Region(
            condition=opaque(head, *(region.condition for region in regions)),
            solved=all(region.solved for region in regions),
            name=regions[0].name,
        )
    return Collection(kind="several", members=tuple(answers), alternatives=alternatives)


_NOTHING: Final = "nothing on one side of a relation"


@dataclass(frozen=True, slots=True)
class _Statements:
    """Reads pieces of an answer under one notation."""

    notation: Notation
    plain_units: bool = False

    def answer(self, tokens: Tokens) -> Answer:
        """Return what one piece states."""
        parts, _ = split(tokens, lambda token: token.is_command(*CONCLUSIONS))
        tokens = unwrapped(next((part for part in reversed(parts) if part), tokens))
        bounded = split(tokens, bounds)[0]
        if len(bounded) > 1:
            first, second, *more = bounded
            if split(first, equates)[1]:  # name = value < bound
                return self.answer(first)
            if self._is_finite(second) and not more:
                return Assignment(name=written(first), symbol=None, value=self.side(second))
            return self._region(tokens)
        sides, signs = split(tokens, equates)
        if not signs:
            return self.side(tokens)
        if not sides[0]:  # a continued chain
            sides, signs = sides[1:], signs[1:]
        return self._equality(sides, signs) if signs else self.side(sides[0])

    def _equality(self, sides: Sequence[Tokens], signs: Sequence[Token]) -> Answer:
        approximate = [token.text in APPROXIMATELY for token in signs]
        symbol, is_name = self._name(sides[0])
        if is_name and len(sides) == 2:  # noqa: PLR2004 - name and value
            value = self.side(sides[1])
            if isinstance(value, Region):
                return value
            if symbol is not None and isinstance(value, Expression):
                if self.notation.tensors and value.value.is_zero:
                    return Equation(left=with_common_dummies(symbol), right=value.value)
                if is_law(symbol, value):
                    return Equation(left=symbol, right=value.value)
            return Assignment(name=written(sides[0]), symbol=symbol, value=value)
        name = written(sides[0]) if is_name else ""
        return self._chain(sides[1:] if is_name else sides, approximate, name)

    def _chain(self, sides: Sequence[Tokens], approximate: Sequence[bool], name: str) -> Answer:
        """Return a chain of the sides that can be read; the last one must be."""
        members: list[Answer] = []
        signs: list[bool] = []
        for side, sign in zip(sides, approximate if name else [False, *approximate], strict=True):
            try:
                members.append(self.side(side))
                signs.append(sign)
            except FormulaError:
                if side is sides[-1]:
                    raise
        if name or len(members) != 2 or signs[1]:  # noqa: PLR2004 - two sides
            return Chain(name=name, members=tuple(members), approximate=tuple(signs))
        left, right = members
        if isinstance(left, Expression) and isinstance(right, Expression):
            return _equation(left, right)
        return right

    def _name(self, tokens: Tokens) -> tuple[sympy.Expr | None, bool]:
        """Return what stands before an equals sign as an expression, and whether it is a name."""
        if not written(tokens):
            raise FormulaError(_NOTHING)
        if is_difference(tokens) or is_call(tokens):
            return None, True
        if list_members(tokens) is not None and not self._operators(tokens):
            return None, True  # (x, y) = (1, 2)
        try:
            symbol = latex.parse(tokens, self.notation)
        except FormulaError:
            return None, True
        applied = isinstance(symbol, (sympy.Symbol, sympy.conjugate)) or is_quantity(symbol)
        absolute = isinstance(symbol, sympy.Abs) and symbol.args[0].is_Symbol
        return symbol, bool(applied or absolute)

    def side(self, tokens: Tokens) -> Answer:
        """Return what one side of a relation is."""
        if not tokens:
            raise FormulaError(_NOTHING)
        if is_set(tokens):
            reader = latex.reader_of(tokens, self.notation)
            image = image_of(reader, tokens)
            if image is not None:
                return Expression(value=image)
            return Region(condition=membership(reader, tokens, VARIABLE), solved=True)
        if all(token.is_command("emptyset") or token.is_mark("\\{", "\\}") for token in tokens):
            return Collection(kind="set", members=())
        column = transposed(tokens)
        if column is not None:
            entries = [[latex.parse(entry, self.notation)] for entry in column]
            return Expression(value=sympy.ImmutableDenseMatrix(entries))
        listed = list_members(tokens)
        if listed is not None:
            kind, members = listed
            if kind != "list" or not self._operators(tokens):
                return Collection(
                    kind=kind, members=tuple(self.answer(member) for member in members)
                )
        return distributed(self._expression(tokens))

    def _is_finite(self, tokens: Tokens) -> bool:
        listed = list_members(tokens)
        return listed is not None and listed[0] == "set" and not is_set(tokens)

    def _operators(self, tokens: Tokens) -> bool:
        return any(token.is_command("hat", "widehat", "dagger") for token in tokens)

    def _expression(self, tokens: Tokens) -> Expression:
        tokens, unit = split_unit(tokens, plain=self.plain_units)
        value = latex.parse(tokens, self.notation)
        if value.has(_CROSS):
            value = with_triple_products(value)
        if self.notation.tensors:
            value = with_common_dummies(value)
        if value.has(sympy.zoo, sympy.nan):
            msg = "division by zero"
            raise FormulaError(msg)
        return Expression(value=value, unit=unit, half_digit=_half_digit(tokens, value))

    def _region(self, tokens: Tokens) -> Region:
        """Return an inequality, about its variable where one side of it is a mere name."""
        reader = latex.reader_of(tokens, self.notation)
        condition = read_condition(reader, tokens)
        variable = _variable(condition, self._names(tokens))
        if variable is None:
            return Region(condition=condition, solved=False)
        return Region(condition=condition.subs(variable, VARIABLE), solved=True, name=str(variable))

    def _names(self, tokens: Tokens) -> list[sympy.Expr]:
        """Return the sides of a relation that are mere names, one between two bounds first."""
        sides, _ = split(tokens, bounds)
        names = []
        for side in [*sides[1:-1], *sides[:1], *sides[1:][-1:]]:
            try:
                symbol = latex.parse(side, self.notation)
            except FormulaError:
                continue
            if isinstance(symbol, sympy.Abs):
                symbol = symbol.args[0]
            if symbol.is_Symbol or isinstance(symbol, sympy.core.function.AppliedUndef):
                names.append(symbol)
        return names

    def definitions(self, remarks: Sequence[Tokens]) -> Iterator[tuple[sympy.Expr, sympy.Expr]]:
        """Yield the names that remarks define, with their values."""
        for remark in remarks:
            try:
                answer = self.answer(unwrapped(remark))
            except FormulaError:
                continue
            if isinstance(answer, Equation) and not isinstance(answer.left, sympy.Add):
                yield answer.left, answer.right
            elif isinstance(answer, Assignment) and isinstance(answer.value, Expression):
                symbol, value = answer.symbol, answer.value.value
                if symbol is not None and answer.value.unit is None and not value.has(symbol):
                    yield symbol, value


def _equation(left: Expression, right: Expression) -> Answer:
    if isinstance(right.value, MATRIX):
        return right
    if left.unit is not None or right.unit is not None:
        return Chain(name="", members=(left, right), approximate=(False, False))
    if right.value.is_Symbol and not left.value.has(right.value):
        return Assignment(name=str(right.value), symbol=right.value, value=left)
    return Equation(left=left.value, right=right.value)


def _variable(condition: sympy.Expr, names: Sequence[sympy.Expr]) -> sympy.Expr | None:
    """Return the name that a condition is about: the one that stands on no other side."""
    sides = [
        side
        for relation in condition.atoms(sympy.core.function.AppliedUndef)
        if type(relation).__name__ in RELATIONS
        for side in relation.args
    ]
    for name in names:
        others = [side for side in sides if side not in (name, sympy.Abs(name))]
        if not any(side.has(name) for side in others):
            return name
    return None


def _half_digit(tokens: Tokens, value: sympy.Basic) -> sympy.Rational | None:
    """Return half of the last decimal place of a number written in decimals."""
    if getattr(value, "free_symbols", None):
        return None
    numbers = [token for token in tokens if token.kind == "number"]
    decimals = _DECIMALS.fullmatch(numbers[0].text) if numbers else None
    if decimals is None:
        return None
    mantissa = sympy.Rational(numbers[0].text)
    scale = abs(sympy.nsimplify(value, rational=True) / mantissa) if mantissa else sympy.Integer(1)
    return sympy.Rational(1, 2 * 10 ** len(decimals[1])) * scale
