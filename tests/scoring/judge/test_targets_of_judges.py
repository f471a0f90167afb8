"""A judge and targets that are no single text."""

from __future__ import annotations

import asyncio

import pytest

from pytest_llmeval.records import Completion, Sample, Target
from pytest_llmeval.scoring.judge.making import judge_scorer
from pytest_llmeval.scoring.judge.prompt import built_in_prompt
from pytest_llmeval.scoring.judge.scorer import JudgeScorer
from pytest_llmeval.scoring.targets import check_target


def shown(target: Target) -> str:
    """Return what a judge of equivalence is asked about a sample with this target."""
    messages = JudgeScorer().prompt.messages(Sample(id="1", input="?", target=target), "x")
    return "".join(message.text for message in messages)


def test_a_judge_is_shown_every_target_as_text() -> None:
    assert "Paris or Rome" in shown(("Paris", "Rome"))
    assert '{"city": "Paris"}' in shown({"city": "Paris"})


class Unasked:
    models = ()


@pytest.mark.parametrize(("answer", "correct"), [("7", True), ("8", True), ("9", False)])
def test_plain_answers_are_compared_with_each_text(answer: str, correct: bool) -> None:  # noqa: FBT001
    sample = Sample(id="1", input="?", target=("7", "8"))
    completion = Completion(text=answer, answer=answer)
    scorer = JudgeScorer()
    prepared = asyncio.run(scorer.prepare(sample, completion, Unasked()))  # type: ignore[arg-type]
    assert scorer.score(answer, sample, prepared).correct is correct


def test_an_equivalence_needs_a_target_and_a_question_of_ones_own_does_not() -> None:
    with pytest.raises(ValueError, match="there is no target, and the scorer 'judge'"):
        check_target(JudgeScorer(), None)
    check_target(JudgeScorer(), {"city": "Paris"})
    check_target(judge_scorer(prompt=built_in_prompt("helpfulness")), None)
