"""Word problems: a number after worked examples."""

import pytest

from pytest_llmeval import assert_correct
from pytest_llmeval.records import Completion, Sample

pytestmark = pytest.mark.llmeval("word_problems.yaml")


def test_word_problems(sample: Sample, completion: Completion) -> None:
    """The number is right."""
    assert_correct(sample, completion)
