"""Geometry3K: plane geometry from a diagram, solved directly or with auxiliary lines drawn first; a judge decides.

With choices to choose from the answer is a letter, which needs no judge.
"""

import pytest

from pytest_llmeval import assert_judge_equivalent, record_score
from pytest_llmeval.records import Completion, Sample, Score


@pytest.mark.llmeval("geometry3k.yaml")
def test_direct(sample: Sample, completion: Completion) -> None:
    """The final answer is equivalent to the target."""
    assert_judge_equivalent(completion.answer, sample.target)


@pytest.mark.llmeval("geometry3k_visual_cot.yaml")
def test_visual_cot(sample: Sample, completion: Completion) -> None:
    """The final answer is equivalent to the target, found with the help of an auxiliary diagram."""
    assert_judge_equivalent(completion.answer, sample.target)


@pytest.mark.llmeval("geometry3k_choice.yaml")
def test_choice(sample: Sample, completion: Completion) -> None:
    """The last line states the letter of the right choice, and that alone."""
    correct = completion.answer == sample.target
    told = (
        f"the final line states {completion.answer or 'no single letter'}, right is {sample.target}"
    )
    record_score(
        Score(
            name="choice",
            value=float(correct),
            correct=correct,
            explanation=told,
            grader="choice/1",
        )
    )
    assert correct, told
