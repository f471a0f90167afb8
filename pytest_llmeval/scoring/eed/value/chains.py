r"""Equality of chains such as ``v = \sqrt{2gh} \approx 14`` with one value."""

from __future__ import annotations

from collections.abc import Callable

import sympy

from pytest_llmeval.scoring.eed.reader.answer import Answer, Chain, Expression
from pytest_llmeval.scoring.eed.reader.symbols import MATRIX
from pytest_llmeval.scoring.eed.value.quantities import in_base_units, is_near


def chain_states(chain: Chain, target: Expression, equal: Callable[[Answer, Answer], bool]) -> bool:
    """Return whether a member of a chain is the target and no other member contradicts it.

    Args:
        chain: the answer.
        target: the value asked for.
        equal: decides on one member.
    """
    found = [equal(member, target) for member in chain.members]
    if not any(found) or not _leads_to(chain, target):
        return False
    last = max(place for place, is_target in enumerate(found) if is_target)
    return not any(
        _contradicts(member, target, approximate=_approximates(chain, place, last))
        or (place > last and _has_more(member, target) and not chain.approximate[place])
        for place, member in enumerate(chain.members)
        if not found[place]
    )


def contradicts_chain(
    answer: Answer, target: Chain, equal: Callable[[Answer, Answer], bool]
) -> bool:
    """Return whether a number in an answer is none of the numbers of a target chain."""
    members = answer.members if isinstance(answer, Chain) else (answer,)
    theirs = [item for item in target.members if _is_number(item)]
    return bool(theirs) and any(
        not any(equal(member, item) or _is_rounded(member, item) for item in theirs)
        for member in members
        if _is_number(member)
    )


def _is_number(member: Answer) -> bool:
    return (
        isinstance(member, Expression)
        and not isinstance(member.value, MATRIX)
        and not member.value.free_symbols
    )


def _is_rounded(member: Answer, target: Answer) -> bool:
    return (
        isinstance(member, Expression)
        and isinstance(target, Expression)
        and not _contradicts_number(member, target, approximate=True)
    )


def is_asked(left: sympy.Expr, right: sympy.Expr) -> bool:
    """Return whether the left side of an equation may be what is asked for, not a part of a law.

    It may if it is one product of other quantities than the right side has, without a number
    before them: ``T_1/T_2 = 2``, but not ``2x = 6``.
    """
    if right.is_zero:
        return False
    if left.is_commutative is False:
        return True
    if left.as_coeff_Mul()[0] != 1 or isinstance(left, sympy.Add):
        return False
    return not left.free_symbols & right.free_symbols


def _approximates(chain: Chain, place: int, other: int) -> bool:
    """Return whether an approximation sign stands between two members."""
    return any(chain.approximate[min(place, other) + 1 : max(place, other) + 1])


def _has_more(member: Answer, target: Expression) -> bool:
    """Return whether a member has all quantities of the target and others besides."""
    if not isinstance(member, Expression) or isinstance(member.value, MATRIX):
        return False
    names = target.value.free_symbols
    return bool(names) and member.value.free_symbols > names


def _leads_to(chain: Chain, target: Expression) -> bool:
    """Return whether what stands first in a chain without a name may be what is asked for."""
    first = chain.members[0]
    if chain.name or not isinstance(first, Expression) or isinstance(first.value, MATRIX):
        return True
    names = first.value.free_symbols
    return bool(
        not names or names & target.value.free_symbols or is_asked(first.value, target.value)
    )


def _contradicts(member: Answer, target: Expression, *, approximate: bool) -> bool:
    """Return whether a member that is not the target says something else.

    One with other symbols is a step of the derivation, one with numbers for symbols a special case.
    """
    if not isinstance(member, Expression) or isinstance(member.value, MATRIX):
        return not isinstance(member, Expression)
    names, their_names = member.value.free_symbols, target.value.free_symbols
    if not names <= their_names or (their_names and not names):
        return False
    if names and member.value.has(sympy.Float):
        return not _is_near_formula(member.value, target.value)
    return (
        not approximate if names else _contradicts_number(member, target, approximate=approximate)
    )


def _is_near_formula(one: sympy.Expr, other: sympy.Expr) -> bool:
    """Return whether a formula with decimals is nearly the target, by its value at a point."""
    names = sorted(other.free_symbols, key=str)
    point = {name: sympy.Rational(7 + 2 * k, 11) for k, name in enumerate(names)}
    ours, theirs = one.subs(point).evalf(), other.subs(point).evalf()
    return not (ours.is_real and theirs.is_real) or is_near(theirs, ours)


def _contradicts_number(member: Expression, target: Expression, *, approximate: bool) -> bool:
    """Return whether a number differs from the target by more than rounding."""
    if member.unit is None or target.unit is None:
        if member.unit is not target.unit:
            return False  # the number before its unit is written
    elif member.unit.dimension != target.unit.dimension:
        return True
    rounded = approximate or member.half_digit is not None
    return not (rounded and is_near(in_base_units(member), in_base_units(target)))
