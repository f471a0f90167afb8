"""The scorer `judge` around its prefilter: empty replies, and what it does on the event loop."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from pytest_llmeval.records import Completion, Sample
from pytest_llmeval.scoring.judge import PREFILTER_VERSION
from pytest_llmeval.scoring.judge.judgement import Judgement
from pytest_llmeval.scoring.judge.scorer import JudgeScorer
from pytest_llmeval.scoring.scorer import ScorerContext
from pytest_llmeval.task.declared import make_scorer
from pytest_llmeval.task.spec import Spec

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
    judgement = Judgement.from_json(prepared(answer))
    assert (judgement.decision.correct, judgement.decided_by) == (False, "no answer")
    score = JudgeScorer().score(answer, SAMPLE, None)
    assert (score.correct, score.details["decided_by"]) == (False, "no answer")


@pytest.mark.parametrize(
    ("options", "lowest"),
    [
        ({}, 0),
        ({"prompt": "helpfulness"}, 1),
        ({"prompt": "faithfulness", "criteria": {"a": "?", "b": "?"}}, 0),
        ({"prompt": "helpfulness", "scale": [2, 5], "minimum": 3, "criteria": {"a": "?"}}, 2),
        ({"prompt": "comparison"}, 0),
    ],
)
def test_an_empty_answer_has_the_lowest_value_on_every_scale(
    options: dict[str, Any], lowest: float
) -> None:
    scorer = make_scorer(Spec(name="judge", options=options), Path.cwd())
    assert isinstance(scorer, JudgeScorer)
    context = cast("ScorerContext", NoModels())
    found = asyncio.run(scorer.prepare(SAMPLE, Completion(text="", answer=""), context))
    decision = Judgement.from_json(found).decision
    assert (decision.correct, decision.value) == (False, lowest)
    assert dict(decision.criteria) == dict.fromkeys(options.get("criteria", {}), lowest)
    assert scorer.score("", SAMPLE, None).value == lowest


def test_a_plain_answer_is_decided_in_place_without_a_child_a_thread_or_a_model() -> None:
    found = prepared("x = 5")
    score = JudgeScorer().score("x = 5", SAMPLE, found)
    assert (score.correct, score.details["decided_by"]) == (True, "symbolic")
    assert score.details["judge"] == PREFILTER_VERSION


def test_what_is_not_plain_is_left_to_the_judge_and_unscored_without_one() -> None:
    score = JudgeScorer().score("x is 5 or so", SAMPLE, prepared("x is 5 or so"))
    assert (score.correct, score.details["decided_by"]) == (None, None)
