"""The published mode: reading, equality and trees as in the public reference, quirks included.

It differs from the reference in speed only. Two expressions whose difference is 0 once multiplied
out are equal without being simplified. A pair whose values differ at a random positive point is not
passed to ``simplify(expand(...))`` and ``equals``, which would find them different as well.
"""

from __future__ import annotations

from functools import lru_cache

import sympy
from latex2sympy2_extended import NormalizationConfig, latex2sympy
from latex2sympy2_extended.latex2sympy2 import ConversionConfig

from pytest_llmeval.scoring.eed.metric.expression import published_tree
from pytest_llmeval.scoring.eed.metric.tree import Node
from pytest_llmeval.scoring.eed.published.text import clean_up
from pytest_llmeval.scoring.eed.time_limit import TimeLimit, TimeLimitExpired
from pytest_llmeval.scoring.eed.value import numeric

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
# latex2sympy2_extended reads these as symbols before version 1.11, then as the gamma function or
# Euler's constant. Under another name, which sorts like the plain one, they are symbols in every
# version.
_GAMMAS = ((r"\gamma", r"\text{gamma!}"), (r"\Gamma", r"\text{Gamma!}"))


def guard(answer: str, target: str) -> str | None:
    """Return the result of the checks on the texts.

    Returns:
        IDENTICAL for a score of 100, the reason for a score of 0, or None if the pair must be read.
    """
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
    """Return the expression that the reference reads; any exception means that it cannot."""
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


def simplified(expression: sympy.Basic, time_limit: TimeLimit) -> sympy.Basic:
    """Return the expression simplified with positive symbols; unchanged if that takes too long."""
    positive, symbols = sympy.posify(expression)
    try:
        with time_limit(SIMPLIFY_SECONDS):
            positive = sympy.simplify(positive)
    except TimeLimitExpired:
        sympy.core.cache.clear_cache()
    return positive.subs(symbols)


@lru_cache(maxsize=_CACHED_TARGETS)
def read_target(text: str) -> sympy.Basic:
    """Return the expression of a target; the last few hundred are cached."""
    return read(text)


@lru_cache(maxsize=_CACHED_TARGETS)
def simplified_target(text: str, time_limit: TimeLimit) -> sympy.Basic:
    """Return the simplified expression of a target; the last few hundred are cached."""
    return simplified(read_target(text), time_limit)


def equal_as_read(answer: sympy.Basic, target: sympy.Basic) -> bool:
    """Return whether two expressions are equal without being simplified.

    So they are if they differ by 0 once multiplied out. They are only where no point tells them
    apart: else they would be multiplied out for nothing.
    """
    if not _are_comparable(answer, target):
        return False
    if answer == target:
        return True
    return numeric.compare(target, answer) is True and sympy.expand(target - answer) == 0


def equal(answer: sympy.Basic, target: sympy.Basic, time_limit: TimeLimit) -> bool:
    """Return whether the reference proves the two, which it has simplified, equal."""
    comparable = _are_comparable(answer, target)
    if comparable and answer != target and numeric.different(target, answer):
        return False
    difference = sympy.expand(target - answer)
    try:
        with time_limit(SIMPLIFY_SECONDS):
            difference = sympy.simplify(difference)
    except TimeLimitExpired:
        sympy.core.cache.clear_cache()
    return bool(target == answer or difference == 0 or _equals(target, answer, time_limit))


def _are_comparable(answer: sympy.Basic, target: sympy.Basic) -> bool:
    return isinstance(answer, sympy.Expr) and isinstance(target, sympy.Expr)


def _equals(target: sympy.Basic, answer: sympy.Basic, time_limit: TimeLimit) -> bool:
    try:
        with time_limit(EQUALS_SECONDS):
            return bool(target.equals(answer))
    except TimeLimitExpired:
        sympy.core.cache.clear_cache()
        return False


def trees(answer: sympy.Basic, target: sympy.Basic) -> tuple[Node, Node]:
    """Return the trees of answer and target."""
    return published_tree(answer), published_tree(target)
