"""Scores of scorers that know right and wrong only."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_llmeval.records import Json, Score
from pytest_llmeval.scoring.scorer import NO_ANSWER, Scorer

SHOWN = 200
"""Characters of an answer or a target that an explanation quotes."""


def decided(
    scorer: Scorer, explanation: str, *, correct: bool, details: Mapping[str, Json] | None = None
) -> Score:
    """Return the score 1 (correct) or 0 of `scorer`, with the reason and further findings."""
    return Score(
        name=scorer.name,
        value=float(correct),
        scale=scorer.scale,
        correct=correct,
        explanation=explanation,
        grader=scorer.grader,
        details=details or {},
    )


def no_answer(scorer: Scorer) -> Score:
    """Return the score of a completion without an answer."""
    return decided(scorer, NO_ANSWER, correct=False)


def shown(text: str) -> str:
    """Return `text` in quotation marks, cut to `SHOWN` characters."""
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "…")
