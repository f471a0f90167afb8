"""Capitals, asked in three prompts."""

import pytest

from pytest_llmeval import assert_correct
from pytest_llmeval.records import Completion, Sample

pytestmark = pytest.mark.llmeval("prompt_matrix.yaml")


def test_prompt_matrix(sample: Sample, completion: Completion) -> None:
    """The answer holds the capital."""
    assert_correct(sample, completion)
