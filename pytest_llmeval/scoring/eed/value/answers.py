"""Equality of an answer and its target, by their types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import sympy

from pytest_llmeval.scoring.eed.reader.answer import (
    Answer,
    Assignment,
    Chain,
    Collection,
    Equation,
    Expression,
    Reading,
    Region,
    replaced,
)
from pytest_llmeval.scoring.eed.reader.symbols import MATRIX
from pytest_llmeval.scoring.eed.time_limit import TimeLimit
from pytest_llmeval.scoring.eed.value.chains import chain_states, contradicts_chain, is_asked
from pytest_llmeval.scoring.eed.value.collections import components, same_collection, states_one
from pytest_llmeval.scoring.eed.value.constants import renamings
from pytest_llmeval.scoring.eed.value.conventions import definitions
from pytest_llmeval.scoring.eed.value.equations import same_solutions, solved_for
from pytest_llmeval.scoring.eed.value.quantities import same_quantity
from pytest_llmeval.scoring.eed.value.regions import region_of, same_regions
from pytest_llmeval.scoring.eed.value.signs import with_both_signs
from pytest_llmeval.scoring.eed.value.values import Values


def equal_readings(
    answer: Reading, target: Reading, time_limit: TimeLimit, conventions: Sequence[str] = ()
) -> bool:
    """Return whether an answer states what its target states, also by what either defines.

    Args:
        answer: as read.
        target: as read.
        time_limit: limits each comparison of two values.
        conventions: names of definitions that hold without being stated.
    """
    counters = {reading.counts_from for reading in (answer, target)} - {""}
    if len(counters) > 1:
        return False
    equality = _Equality(Values(time_limit))
    if equality.equal(answer.answer, target.answer):
        return True
    agreed = definitions(conventions, answer.answer, target.answer)
    for defined in (dict(answer.definitions or target.definitions), agreed):
        if defined and equality.equal(
            replaced(answer.answer, defined), replaced(target.answer, defined)
        ):
            return True
    return any(
        equality.equal(replaced(answer.answer, names), target.answer)
        for names in renamings(answer.answer, target.answer)
    )


_DERIVED = re.compile(r"'|d*dot(?=\w)")
_REST = sympy.Function("O")
"""The rest of a series, which is what its left side is equal to only nearly."""


@dataclass(frozen=True, slots=True)
class _Equality:
    values: Values

    def equal(self, answer: Answer, target: Answer) -> bool:
        """Return whether an answer equals the target, or states it beside a name or steps."""
        answer, target = with_both_signs(answer), with_both_signs(target)
        if isinstance(target, Assignment) and isinstance(target.value, Collection):
            target = target.value
        if isinstance(answer, Region) or isinstance(target, Region):
            ours, theirs = region_of(answer), region_of(target)
            return bool(ours and theirs and same_regions(ours, theirs, self.values))
        target = _vector(target, answer)
        if isinstance(target, Collection):
            return same_collection(answer, target, self.equal)
        if isinstance(answer, Collection):
            return states_one(answer, target, self.equal)
        return self._equals_single(answer, target)

    def _equals_single(self, answer: Answer, target: Answer) -> bool:
        match target:
            case Equation():
                return self._solves(answer, target)
            case Assignment():
                return self._assigns(answer, target)
            case Chain():
                stated = any(self.equal(answer, member) for member in target.members)
                return stated and not contradicts_chain(answer, target, self.equal)
            case Expression():
                return self._states(answer, target)
        return False

    def _states(self, answer: Answer, target: Expression) -> bool:
        """Return whether an answer states a value."""
        match answer:
            case Expression():
                return same_quantity(answer, target, self.values)
            case Assignment():
                return self.equal(answer.value, target)
            case Equation(left=left, right=right):
                asked = is_asked(left, right) or right.has(_REST)
                return self.values.same(right, target.value) and (
                    asked or self.values.same(left, target.value)
                )
            case Chain():
                return chain_states(answer, target, self.equal)
        return False

    def _solves(self, answer: Answer, target: Equation) -> bool:
        """Return whether an answer is an equation with the target's solutions."""
        difference = target.left - target.right
        match answer:
            case Equation(left=left, right=right):
                return same_solutions(left - right, difference, self.values.same)
            case Assignment(symbol=symbol, value=Expression(value=value, unit=None)):
                return self._is_solution(symbol, value, difference)
            case Expression(value=value, unit=None):
                asked = is_asked(target.left, target.right)
                return asked and self.values.same(value, target.right)
            case Chain(name="", members=(Expression() as left, Expression() as right)):
                return same_solutions(left.value - right.value, difference, self.values.same)
        return False

    def _is_solution(
        self, symbol: sympy.Expr | None, value: sympy.Basic, difference: sympy.Expr
    ) -> bool:
        """Return whether ``symbol = value`` says the same as ``difference = 0``."""
        if symbol is None or isinstance(value, MATRIX) or not difference.has(symbol):
            return False
        return same_solutions(symbol - value, difference, self.values.same) or solved_for(
            symbol, value, difference, self.values.same
        )

    def _assigns(self, answer: Answer, target: Assignment) -> bool:
        """Return whether an answer states the value of a name, or the same equation solved."""
        if isinstance(answer, Assignment) and _other_derivative(answer.name, target.name):
            return False
        if self.equal(answer, target.value):
            return True
        difference = _difference(target)
        if difference is None:
            return False
        match answer:
            case Assignment(symbol=symbol, value=Expression(value=value, unit=None)):
                return symbol != target.symbol and self._is_solution(symbol, value, difference)
            case Equation(left=left, right=right) if (left - right).has(target.symbol):
                same = same_solutions(left - right, difference, self.values.same)
                return same or solved_for(
                    target.symbol, target.value.form, left - right, self.values.same
                )
        return False


def _other_derivative(one: str, other: str) -> bool:
    """Return whether two names are derivatives of different order of one function."""
    marks = [_DERIVED.findall(name) for name in (one, other)]
    return marks[0] != marks[1] and _DERIVED.sub("", one) == _DERIVED.sub("", other)


def _vector(target: Answer, answer: Answer) -> Answer:
    """Return a vector as its components if the answer is a tuple or a column."""
    value = answer.value if isinstance(answer, Assignment) else answer
    column = isinstance(value, Expression) and isinstance(value.value, MATRIX)
    vector = target.value if isinstance(target, Assignment) else target
    if not isinstance(vector, Expression) or isinstance(vector.value, MATRIX):
        return target
    if column or (isinstance(value, Collection) and value.kind == "tuple"):
        return components(vector) or target
    return target


def _difference(target: Assignment) -> sympy.Expr | None:
    """Return name less value; None if they cannot be subtracted."""
    value = target.value
    if target.symbol is None or not isinstance(value, Expression) or value.unit is not None:
        return None
    return None if isinstance(value.value, MATRIX) else target.symbol - value.value
