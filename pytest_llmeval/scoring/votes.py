"""Which answers of one sample are one vote."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from pytest_llmeval.records import Target, target_texts
from pytest_llmeval.scoring.scorer import ComparingScorer, Scorer
from pytest_llmeval.scoring.text import comparable

SameAnswer: TypeAlias = Callable[[str, str, Target], bool]
"""Whether two answers, the first two arguments, are equal; the third is their sample's target."""


def same_answer(scorer: Scorer | None) -> SameAnswer:
    """Return the equality of answers as a scorer decides it.

    Without a scorer, or with one that does not compare answers with each other, it is that of their
    texts: Unicode form and white space make no difference. Of several texts as target any may
    tell that they are equal. Each pair is compared once.
    """
    if not isinstance(scorer, ComparingScorer):
        return lambda one, other, _: comparable(one) == comparable(other)
    compared = cache(scorer.same)
    return lambda one, other, target: (
        one == other or any(compared(one, other, text) for text in target_texts(target))
    )
