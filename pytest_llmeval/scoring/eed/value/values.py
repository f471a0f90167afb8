"""Equality of two values: formulas, matrices, cases, products of operators."""

from __future__ import annotations

from dataclasses import dataclass

import sympy

from pytest_llmeval.scoring.eed.reader.symbols import MATRIX
from pytest_llmeval.scoring.eed.time_limit import TimeLimit, TimeLimitExpired
from pytest_llmeval.scoring.eed.value import numeric
from pytest_llmeval.scoring.eed.value.ordered import same_words

EQUALS_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Values:
    """Decides whether two values are the same, each step under a limit on time."""

    time_limit: TimeLimit

    def same(self, one: sympy.Basic, other: sympy.Basic) -> bool:
        """Return whether two values are the same."""
        if one == other:
            return True
        if isinstance(one, MATRIX) or isinstance(other, MATRIX):
            return self._same_entries(one, other)
        if one.is_commutative is False or other.is_commutative is False:
            return same_words(one, other, self.same)
        try:
            with self.time_limit(EQUALS_SECONDS):
                one, other = _with_limits(one), _with_limits(other)
                decided = numeric.compare(one, other)
        except TimeLimitExpired:
            decided = None
        if decided is None and _is_cases(one) and _is_cases(other):
            return self._same_cases(one, other)
        return self._provably_same(one, other) if decided is None else decided

    def _same_entries(self, one: sympy.Basic, other: sympy.Basic) -> bool:
        if not (isinstance(one, MATRIX) and isinstance(other, MATRIX)) or one.shape != other.shape:
            return False
        return all(self.same(ours, theirs) for ours, theirs in zip(one, other, strict=True))

    def _same_cases(self, one: sympy.Expr, other: sympy.Expr) -> bool:
        """Return whether cases whose conditions are in words have the same rows."""
        ours = {row.args[1]: row.args[0] for row in one.args}
        theirs = {row.args[1]: row.args[0] for row in other.args}
        return ours.keys() == theirs.keys() and all(
            self.same(ours[condition], theirs[condition]) for condition in ours
        )

    def _provably_same(self, one: sympy.Expr, other: sympy.Expr) -> bool:
        """Return whether sympy proves equality, for expressions without values at points."""
        try:
            with self.time_limit(EQUALS_SECONDS):
                return bool(sympy.simplify(sympy.expand(one - other)) == 0)
        except TimeLimitExpired:
            sympy.core.cache.clear_cache()
            return False


def _with_limits(value: sympy.Expr) -> sympy.Expr:
    """Return an expression with its limits evaluated."""
    return value.replace(
        lambda item: type(item).__name__ == "Limit",
        lambda item: sympy.limit(*item.args[:3], "+" if item.args[3] == 1 else "-"),
    )


def _is_cases(value: sympy.Basic) -> bool:
    return type(value).__name__ == "Cases"
