"""The corrected metric: its own reader, equality by value, trees that a renamed symbol does not disturb."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import sympy

from pytest_llmeval.scoring.eed import numeric
from pytest_llmeval.scoring.eed.alignment import follow
from pytest_llmeval.scoring.eed.expression import tree
from pytest_llmeval.scoring.eed.numbering import numbered
from pytest_llmeval.scoring.eed.reading import Reading, read
from pytest_llmeval.scoring.eed.stages import Stage, StageExpired
from pytest_llmeval.scoring.eed.symbols import symbol
from pytest_llmeval.scoring.eed.target_cache import TargetCache
from pytest_llmeval.scoring.eed.tree import Node

SIMPLIFY_SECONDS = 10.0
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
def read_target(text: str) -> Reading:
    """Return the target's reading; the last few hundred are remembered."""
    return read(text)


def with_shared_subscripts(answer: str, target: str) -> tuple[str, str]:
    r"""Return both texts with the braces that one writes and the other leaves out: ``v_esc`` beside ``v_{esc}``.

    Alone ``v_esc`` is v_e s c, as LaTeX sets it, just as ``k_BT`` is k_B T. What an answer writes
    changes the target only from three letters on: ``m_{ec}^2`` must not make an m_e c^2 its own.
    """
    return _with_subscripts_of(answer, target, 2), _with_subscripts_of(target, answer, 3)


def _with_subscripts_of(text: str, other: str, at_least: int) -> str:
    for letter, subscript in dict.fromkeys(_BRACED_SUBSCRIPT.findall(other)):
        if len(subscript) < at_least:
            continue
        bare = rf"{re.escape(letter)}_{subscript}(?![A-Za-z])"
        text = re.sub(bare, lambda found: found[0].replace("_", "_{", 1) + "}", text)
    return text


def settled(answer: Reading, target: Reading) -> tuple[Reading, Reading, tuple[str, ...]]:
    """Settle what only the pair tells: what i stands for, and whether two forms of a letter are one symbol."""
    answer = _with_the_letters_of(answer, target)
    sides = [side for reading in (answer, target) for side in reading.readings]
    if not _is_imaginary(sides):
        return answer, target, ASSUMPTIONS
    unit = {_I: sympy.I}
    return _substituted(answer, unit), _substituted(target, unit), (*ASSUMPTIONS, IMAGINARY)


def _is_imaginary(sides: list[sympy.Expr]) -> bool:
    """Tell whether i is the unit: not when it is an angle of incidence or a current squared somewhere."""
    if not any(_I in side.free_symbols for side in sides):
        return False
    return not any(
        item.args[0].has(_I) if isinstance(item, _ANGLE_FUNCTIONS) else item.base == _I
        for side in sides
        for item in side.atoms(*_ANGLE_FUNCTIONS, sympy.Pow)
    )


def _substituted(reading: Reading, changes: dict[sympy.Symbol, sympy.Expr]) -> Reading:
    formula, *more = (side.subs(changes) for side in reading.readings)
    return Reading(formula=formula, approximation=more[0] if more else None)


def _with_the_letters_of(answer: Reading, target: Reading) -> Reading:
    r"""Rename ``\varphi`` to ``\phi`` in the answer where the target knows only that one, and so on."""
    mine, theirs = _names(answer), _names(target)
    changes: dict[sympy.Symbol, sympy.Expr] = {}
    for pair in _VARIANTS:
        for used, other in (pair, pair[::-1]):
            used_here, used_there = _using(mine, used), _using(theirs, other)
            if used_here and used_there and not _using(mine, other) and not _using(theirs, used):
                changes |= {
                    symbol(name): symbol(other + name.removeprefix(used)) for name in used_here
                }
    return _substituted(answer, changes) if changes else answer


def _names(reading: Reading) -> set[str]:
    return {item.name for side in reading.readings for item in side.free_symbols}


def _using(names: set[str], letter: str) -> set[str]:
    return {
        name for name in names if name == letter or name.startswith((f"{letter}_", f"{letter}'"))
    }


def equal(answer: Reading, target: Reading, stage: Stage) -> bool:
    """Return whether any reading of the answer equals any reading of the target."""
    return any(_same(mine, theirs, stage) for mine in answer.readings for theirs in target.readings)


def _same(mine: sympy.Expr, theirs: sympy.Expr, stage: Stage) -> bool:
    if mine == theirs:
        return True
    decided = _compared(mine, theirs, stage)
    return _proven_equal(mine, theirs, stage) if decided is None else decided


def _compared(mine: sympy.Expr, theirs: sympy.Expr, stage: Stage) -> bool | None:
    try:
        with stage(EQUALS_SECONDS):
            return numeric.compare(mine, theirs)
    except StageExpired:
        return None


def _proven_equal(mine: sympy.Expr, theirs: sympy.Expr, stage: Stage) -> bool:
    try:
        with stage(EQUALS_SECONDS):
            return bool(sympy.simplify(sympy.expand(mine - theirs)) == 0)
    except StageExpired:
        sympy.core.cache.clear_cache()
        return False


@lru_cache(maxsize=_CACHED_TARGETS)
def simplified(expression: sympy.Expr, stage: Stage) -> sympy.Expr:
    """Return the expression simplified; unchanged when that takes too long."""
    return expression if (found := _simplified_in_time(expression, stage)) is None else found


@lru_cache(maxsize=_CACHED_TARGETS)
def simplified_target(
    expression: sympy.Expr, stage: Stage, cache: TargetCache | None
) -> sympy.Expr:
    """Return what `simplified` does, from the cache on disk if it is there."""
    if cache is None:
        return simplified(expression, stage)
    text = sympy.srepr(
        expression
    )  # what is meant by the target's text, which the answer has a say in
    if saved := cache.load("corrected", text):
        return saved[0]
    found = _simplified_in_time(expression, stage)
    if found is None:
        return expression
    cache.save("corrected", text, [found])
    return found


def _simplified_in_time(expression: sympy.Expr, stage: Stage) -> sympy.Expr | None:
    try:
        with stage(SIMPLIFY_SECONDS):
            return sympy.simplify(expression)
    except StageExpired:
        sympy.core.cache.clear_cache()
        return None


class SimplifiedPair(NamedTuple):
    """Both formulas simplified, with numbers for symbols, and the symbols that these stand for."""

    answer: sympy.Expr
    target: sympy.Expr
    symbols: dict[sympy.Symbol, sympy.Symbol]


def simplified_pair(
    answer: Reading, target: Reading, stage: Stage, cache: TargetCache | None = None
) -> SimplifiedPair:
    """Return both formulas as they are compared: what their symbols are called makes no difference."""
    numbers = numbered(target.formula, answer.formula)
    return SimplifiedPair(
        simplified(answer.formula.xreplace(numbers), stage),
        simplified_target(target.formula.xreplace(numbers), stage, cache),
        {number: item for item, number in numbers.items()},
    )


def trees(
    answer: Reading, target: Reading, stage: Stage, cache: TargetCache | None = None
) -> tuple[Node, Node]:
    """Return the two trees to compare, the answer's arguments in the target's order."""
    pair = simplified_pair(answer, target, stage, cache)
    names = {number.name: item.name for number, item in pair.symbols.items()}
    goal = tree(pair.target)
    return follow(tree(pair.answer), goal).renamed(names), goal.renamed(names)
