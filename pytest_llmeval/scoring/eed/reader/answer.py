"""The types of answers: values, assignments, equations, chains, regions and collections.

Every `form` is the sympy expression whose tree is compared for partial credit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import sympy

from pytest_llmeval.scoring.eed.reader.symbols import MATRIX, opaque
from pytest_llmeval.scoring.units import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    r"""A value: a number, formula or matrix, with the unit behind it, if any.

    Attributes:
        value: the number of units; a matrix is an immutable sympy matrix.
        unit: None for none.
        half_digit: half of the last decimal place as written, in units; None for an exact value.
    """

    value: sympy.Basic
    unit: Unit | None = None
    half_digit: sympy.Rational | None = None

    @property
    def form(self) -> sympy.Basic:
        """The value times the name of the unit; a matrix by its rows."""
        value = self.value
        if isinstance(value, MATRIX):
            value = opaque("Matrix", *(opaque("Row", *row) for row in value.tolist()))
        if self.unit is None:
            return value
        return value * sympy.Symbol(self.unit.text, positive=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """``name = value``; the name is what stands there, read as an expression where it can be."""

    name: str
    symbol: sympy.Expr | None
    value: Answer

    @property
    def form(self) -> sympy.Basic:
        """The form of the value."""
        return self.value.form


@dataclass(frozen=True, slots=True, kw_only=True)
class Equation:
    """``left = right``, where neither side is a mere name."""

    left: sympy.Expr
    right: sympy.Expr

    @property
    def form(self) -> sympy.Basic:
        """Both sides."""
        return opaque("Equation", self.left, self.right)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    r"""``name = e1 = e2 \approx e3``: several forms of one value.

    Attributes:
        name: the name before the first member; "" for none.
        members: the members in order.
        approximate: for each member whether an approximation sign stands before it.
    """

    name: str
    members: tuple[Answer, ...]
    approximate: tuple[bool, ...]

    @property
    def form(self) -> sympy.Basic:
        """The form of the last member, or of the last one before decimals."""
        exact = [member for member in self.members if not member.form.has(sympy.Float)]
        return (exact or [*self.members])[-1].form


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """The values that fulfil a condition: an inequality, interval or union.

    Attributes:
        condition: built as `conditions` says; about `conditions.VARIABLE` where a variable is
            known or none is named.
        solved: whether the condition is about `conditions.VARIABLE`.
        name: the name of the variable; "" for none.
    """

    condition: sympy.Expr
    solved: bool
    name: str = ""

    @property
    def form(self) -> sympy.Basic:
        """The condition."""
        return self.condition


CollectionKind: TypeAlias = Literal["set", "tuple", "list", "several"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    r"""A set, a tuple, a list in square brackets, or several answers.

    Attributes:
        kind: ``several`` for answers beside each other, as in ``x = 1, y = 2``.
        members: the members in order.
        alternatives: of several answers: whether "or" or a plus-minus sign joins them.
    """

    kind: CollectionKind
    members: tuple[Answer, ...]
    alternatives: bool = False

    @property
    def form(self) -> sympy.Basic:
        """The forms of the members, under the kind's name."""
        return opaque(self.kind.capitalize(), *(_named_form(member) for member in self.members))


def _named_form(member: Answer) -> sympy.Basic:
    """Return the form of one of several answers, with its name."""
    if isinstance(member, Assignment):
        return opaque("Assignment", sympy.Symbol(f"{member.name} ="), member.form)
    return member.form


Answer: TypeAlias = Expression | Assignment | Equation | Chain | Region | Collection


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """An answer or target as read.

    Attributes:
        answer: what it states.
        definitions: names that it defines beside the answer, with their values.
        counts_from: where a counter begins that it tells, as in ``n = 1, 2, ...``; "" for none.
    """

    answer: Answer
    definitions: tuple[tuple[sympy.Expr, sympy.Expr], ...] = ()
    counts_from: str = ""


def replaced(answer: Answer, changes: Mapping[sympy.Basic, sympy.Basic]) -> Answer:
    """Return an answer with symbols replaced."""
    match answer:
        case Expression():
            return dataclasses.replace(answer, value=answer.value.subs(changes))
        case Assignment():
            symbol = None if answer.symbol is None else answer.symbol.subs(changes)
            value = replaced(answer.value, changes)
            return dataclasses.replace(answer, symbol=symbol, value=value)
        case Equation():
            return Equation(left=answer.left.subs(changes), right=answer.right.subs(changes))
        case Chain() | Collection():
            members = tuple(replaced(member, changes) for member in answer.members)
            return dataclasses.replace(answer, members=members)
        case Region():
            return dataclasses.replace(answer, condition=answer.condition.subs(changes))


def symbols_in(answer: Answer) -> set[sympy.Symbol]:
    """Return the symbols in the values of an answer, names before equals signs excepted."""
    return {item for item in answer.form.free_symbols if isinstance(item, sympy.Symbol)}


def expressions_in(answer: Answer) -> Iterator[Expression]:
    """Yield the values that an answer consists of."""
    match answer:
        case Expression():
            yield answer
        case Assignment(value=value):
            yield from expressions_in(value)
        case Chain(members=members) | Collection(members=members):
            for member in members:
                yield from expressions_in(member)
