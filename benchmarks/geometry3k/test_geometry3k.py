"""Geometry3K: plane geometry from a diagram, solved directly, with lines drawn first, or true ones.

A judge decides; where the answer is the letter of a choice, none is needed.
"""

import pytest

from pytest_llmeval import assert_correct, assert_judge_equivalent
from pytest_llmeval.records import Completion, Sample


@pytest.mark.llmeval("geometry3k.yaml")
def test_direct(sample: Sample, completion: Completion) -> None:
    """The final answer is equivalent to the target."""
    assert_judge_equivalent(completion.answer, sample.target)


@pytest.mark.llmeval("geometry3k_visual_cot.yaml")
def test_visual_cot(sample: Sample, completion: Completion) -> None:
    """The final answer is equivalent to the target, found with the help of an auxiliary diagram."""
    assert_judge_equivalent(completion.answer, sample.target)


@pytest.mark.llmeval("geometry3k_true_lines.yaml")
def test_true_lines(sample: Sample, completion: Completion) -> None:
    """The final answer is equivalent to the target, found with the true auxiliary lines."""
    assert_judge_equivalent(completion.answer, sample.target)


@pytest.mark.llmeval("geometry3k_choice.yaml")
def test_choice(sample: Sample, completion: Completion) -> None:
    """The last line states the letter of the right choice, and that alone."""
    assert_correct(sample, completion)
