"""The scorer `judge` around its prefilter: empty replies, and what it does on the event loop."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from pytest_llmeval.records import Completion, Sample
from pytest_llmeval.scoring.judge import PREFILTER_VERSION
from pytest_llmeval.scoring.judge.scorer import JudgeScorer
from pytest_llmeval.scoring.scorer import ScorerContext

SAMPLE = Sample(id="1", input="Find x.", target="5")


class NoModels:
    """A context in which nobody can be asked; any other use fails."""

    models: tuple[str, ...] = ()


def prepared(answer: str | None) -> Any:
    completion = Completion(text=answer or "", answer=answer)
    context = cast("ScorerContext", NoModels())
    return asyncio.run(JudgeScorer().prepare(SAMPLE, completion, context))


@pytest.mark.parametrize("answer", [None, "", "  \n\t"])
def test_an_empty_answer_is_incorrect_and_no_decision_of_the_prefilter(answer: str | None) -> None:
    assert prepared(answer) is None
    score = JudgeScorer().score(answer, SAMPLE, None)
    assert (score.correct, score.details["decided_by"]) == (False, "no answer")


def test_a_plain_answer_is_decided_in_place_without_a_child_a_thread_or_a_model() -> None:
    found = prepared("x = 5")
    score = JudgeScorer().score("x = 5", SAMPLE, found)
    assert (score.correct, score.details["decided_by"]) == (True, "symbolic")
    assert score.details["judge"] == PREFILTER_VERSION


def test_what_is_not_plain_is_left_to_the_judge_and_unscored_without_one() -> None:
    score = JudgeScorer().score("x is 5 or so", SAMPLE, prepared("x is 5 or so"))
    assert (score.correct, score.details["decided_by"]) == (None, None)
