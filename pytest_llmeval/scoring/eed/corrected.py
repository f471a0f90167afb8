"""The corrected mode: its own reader, equality by value, trees independent of symbols' names."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import sympy

from pytest_llmeval.scoring.eed.reader.symbols import symbol
from pytest_llmeval.scoring.eed.statement import Statement, read
from pytest_llmeval.scoring.eed.time_limit import TimeLimit, TimeLimitExpired
from pytest_llmeval.scoring.eed.value import numeric

EQUALS_SECONDS = 10.0

ASSUMPTIONS = (
    "symbols are positive",
    "e is Euler's number",
    "log is the natural logarithm",
)
IMAGINARY = "i is the imaginary unit"

_CACHED_TARGETS = 256
_I = symbol("i")
_ANGLE_FUNCTIONS = (sympy.sin, sympy.cos, sympy.tan, sympy.cot)
_BRACED_SUBSCRIPT = re.compile(
    r"(\\[A-Za-z]+|[A-Za-z])_\{\s*(?:\\(?:text|mathrm|rm)\b\s*\{?\s*)?([A-Za-z]{2,})\s*\}"
)
_VARIANTS = (("phi", "varphi"), ("theta", "vartheta"), ("rho", "varrho"), ("sigma", "varsigma"))


@lru_cache(maxsize=_CACHED_TARGETS)
def read_target(text: str) -> Statement:
    """Return the statement of a target; the last few hundred are cached."""
    return read(text)


def with_shared_subscripts(answer: str, target: str) -> tuple[str, str]:
    r"""Return both texts, each with the subscript braces of the other: ``v_esc``, ``v_{esc}``.

    Alone, ``v_esc`` is v_e s c, as LaTeX sets it, just as ``k_BT`` is k_B T. Subscripts of the
    answer apply to the target from three letters on: ``m_{ec}^2`` in an answer must not change the
    meaning of ``m_ec^2`` in the target.
    """
    return _with_subscripts_of(answer, target, 2), _with_subscripts_of(target, answer, 3)


def _with_subscripts_of(text: str, other: str, at_least: int) -> str:
    for letter, subscript in dict.fromkeys(_BRACED_SUBSCRIPT.findall(other)):
        if len(subscript) < at_least:
            continue
        bare = rf"{re.escape(letter)}_{subscript}(?![A-Za-z])"
        text = re.sub(bare, lambda found: found[0].replace("_", "_{", 1) + "}", text)
    return text


class ResolvedPair(NamedTuple):
    """Both statements with their ambiguous symbols resolved, and the assumptions made."""

    answer: Statement
    target: Statement
    assumptions: tuple[str, ...]


def resolve_symbols(answer: Statement, target: Statement) -> ResolvedPair:
    r"""Resolve what only the pair decides: the meaning of i, and variants such as ``\varphi``."""
    answer = _with_letter_variants_of(answer, target)
    formulas = [formula for side in (answer, target) for formula in side.formulas]
    if not _is_imaginary(formulas):
        return ResolvedPair(answer, target, ASSUMPTIONS)
    unit = {_I: sympy.I}
    assumptions = (*ASSUMPTIONS, IMAGINARY)
    return ResolvedPair(_substituted(answer, unit), _substituted(target, unit), assumptions)


def _is_imaginary(formulas: list[sympy.Expr]) -> bool:
    """Return whether i is the imaginary unit: not if it is an angle or a squared current."""
    if not any(_I in formula.free_symbols for formula in formulas):
        return False
    return not any(
        item.args[0].has(_I) if isinstance(item, _ANGLE_FUNCTIONS) else item.base == _I
        for formula in formulas
        for item in formula.atoms(*_ANGLE_FUNCTIONS, sympy.Pow)
    )


def _substituted(statement: Statement, changes: dict[sympy.Symbol, sympy.Expr]) -> Statement:
    formula, *more = (side.subs(changes) for side in statement.formulas)
    return Statement(formula=formula, approximation=more[0] if more else None)


def _with_letter_variants_of(answer: Statement, target: Statement) -> Statement:
    r"""Return the answer with the target's variant of each letter.

    ``\varphi`` becomes ``\phi`` where the answer has only the one and the target only the other.
    """
    ours, theirs = _names(answer), _names(target)
    changes: dict[sympy.Symbol, sympy.Expr] = {}
    for pair in _VARIANTS:
        for used, other in (pair, pair[::-1]):
            ambiguous = _using(ours, other) or _using(theirs, used)
            if _using(theirs, other) and not ambiguous:
                changes |= {
                    symbol(name): symbol(other + name.removeprefix(used))
                    for name in _using(ours, used)
                }
    return _substituted(answer, changes) if changes else answer


def _names(statement: Statement) -> set[str]:
    return {item.name for formula in statement.formulas for item in formula.free_symbols}


def _using(names: set[str], letter: str) -> set[str]:
    """Return the names that are the letter, also with a subscript or prime."""
    return {
        name for name in names if name == letter or name.startswith((f"{letter}_", f"{letter}'"))
    }


def equal(answer: Statement, target: Statement, time_limit: TimeLimit) -> bool:
    """Return whether a formula of the answer equals a formula of the target."""
    return any(
        _same(ours, theirs, time_limit) for ours in answer.formulas for theirs in target.formulas
    )


def _same(ours: sympy.Expr, theirs: sympy.Expr, time_limit: TimeLimit) -> bool:
    if ours == theirs:
        return True
    try:
        with time_limit(EQUALS_SECONDS):
            decided = numeric.compare(ours, theirs)
    except TimeLimitExpired:
        decided = None
    return _provably_equal(ours, theirs, time_limit) if decided is None else decided


def _provably_equal(ours: sympy.Expr, theirs: sympy.Expr, time_limit: TimeLimit) -> bool:
    try:
        with time_limit(EQUALS_SECONDS):
            return bool(sympy.simplify(sympy.expand(ours - theirs)) == 0)
    except TimeLimitExpired:
        sympy.core.cache.clear_cache()
        return False
