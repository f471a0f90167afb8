"""The published metric: reading, equality and trees as the public reference does them, quirks included.

Faster than the reference in two ways only: an answer that reads exactly as the target does is not
simplified once more, and a pair that differs at a random positive point is not put through
``simplify(expand(...))`` and ``equals``, which could only have agreed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import sympy
from latex2sympy2_extended import NormalizationConfig, latex2sympy
from latex2sympy2_extended.latex2sympy2 import ConversionConfig

from pytest_llmeval.scoring.eed import numeric
from pytest_llmeval.scoring.eed.expression import published_tree
from pytest_llmeval.scoring.eed.published_text import clean_up
from pytest_llmeval.scoring.eed.stages import Stage, StageExpired
from pytest_llmeval.scoring.eed.target_cache import TargetCache
from pytest_llmeval.scoring.eed.tree import Node

SIMPLIFY_SECONDS = 30.0
EQUALS_SECONDS = 10.0
LENGTH_RATIO = 3  # an answer longer than this many targets scores 0

IDENTICAL = "identical text"

_CACHED_TARGETS = 256
_NORMALIZATION = NormalizationConfig(
    basic_latex=True, units=False, malformed_operators=True, nits=True, boxed="all", equations=False
)
_CONVERSION = ConversionConfig(
    interpret_as_mixed_fractions=False,
    interpret_simple_eq_as_assignment=False,
    interpret_contains_as_eq=True,
    lowercase_symbols=False,
)
# From 1.11 on the library takes these for the gamma function or Euler's constant, before it they
# were symbols. Under a name of their own they are symbols in every version; it sorts where the
# plain name would.
_GAMMAS = ((r"\gamma", r"\text{gamma!}"), (r"\Gamma", r"\text{Gamma!}"))


def guard(answer: str, target: str) -> str | None:
    """Return why the pair scores 0 before it is read, IDENTICAL if it scores 100 unread, None if it is to be read."""
    if not answer:
        return "no answer"
    for command in (r"\int", r"\sum"):
        if command in answer or command in target:
            return f"the published metric does not read {command}"
    if answer == target:
        return IDENTICAL
    if len(answer) > LENGTH_RATIO * len(target):
        return "the published metric refuses an answer more than three times as long as the target"
    return None


def read(text: str) -> sympy.Basic:
    """Return the expression that the reference would read; any exception means that it could not."""
    cleaned = clean_up(text)
    for command, name in _GAMMAS:
        cleaned = cleaned.replace(command, name)
    expression = latex2sympy(
        cleaned, normalization_config=_NORMALIZATION, conversion_config=_CONVERSION
    )
    return _plain_percent(expression)


def _plain_percent(expression: sympy.Basic) -> sympy.Basic:
    """Undo the wrapper that the library puts around 1/100 since 1.11."""
    if isinstance(expression, sympy.Basic) and expression.has(sympy.UnevaluatedExpr):
        return expression.replace(sympy.UnevaluatedExpr, lambda argument: argument)
    return expression


def simplified(expression: sympy.Basic, stage: Stage) -> sympy.Basic:
    """Return the expression simplified with positive symbols; unchanged when that takes too long."""
    return _simplified_in_time(expression, stage)[0]


def _simplified_in_time(expression: sympy.Basic, stage: Stage) -> tuple[sympy.Basic, bool]:
    """Return the expression simplified with positive symbols if there is time, and whether there was."""
    positive, symbols = sympy.posify(expression)
    in_time = True
    try:
        with stage(SIMPLIFY_SECONDS):
            positive = sympy.simplify(positive)
    except StageExpired:
        sympy.core.cache.clear_cache()
        in_time = False
    return positive.subs(symbols), in_time


class Target(NamedTuple):
    """A target as it was read, and simplified."""

    read: sympy.Basic
    simplified: sympy.Basic


@lru_cache(maxsize=_CACHED_TARGETS)
def read_target(text: str, stage: Stage, cache: TargetCache | None = None) -> Target:
    """Return the target read and simplified; the last few hundred are remembered, and those in the cache on disk."""
    if cache is not None and (saved := cache.load("published", text)):
        return Target(*saved)
    expression = read(text)
    simple, in_time = _simplified_in_time(expression, stage)
    if cache is not None and in_time:
        cache.save("published", text, [expression, simple])
    return Target(expression, simple)


def read_answer(text: str, target: Target, stage: Stage) -> sympy.Basic:
    """Return the answer read and simplified; one that reads as the target does simplifies as it does."""
    expression = read(text)
    return target.simplified if expression == target.read else simplified(expression, stage)


def equal(answer: sympy.Basic, target: sympy.Basic, stage: Stage) -> bool:
    """Return whether the reference would prove the two equal."""
    if _both_expressions(answer, target) and answer != target and numeric.different(target, answer):
        return False
    difference = sympy.expand(target - answer)
    try:
        with stage(SIMPLIFY_SECONDS):
            difference = sympy.simplify(difference)
    except StageExpired:
        sympy.core.cache.clear_cache()
    return bool(target == answer or difference == 0 or _equals(target, answer, stage))


def _both_expressions(*sides: sympy.Basic) -> bool:
    return all(isinstance(side, sympy.Expr) for side in sides)


def _equals(target: sympy.Basic, answer: sympy.Basic, stage: Stage) -> bool:
    try:
        with stage(EQUALS_SECONDS):
            return bool(target.equals(answer))
    except StageExpired:
        sympy.core.cache.clear_cache()
        return False


def trees(answer: sympy.Basic, target: sympy.Basic) -> tuple[Node, Node]:
    """Return the two trees to compare."""
    return published_tree(answer), published_tree(target)
