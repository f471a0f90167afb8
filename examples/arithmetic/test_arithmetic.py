"""Arithmetic with tools: an agent, its functions, and the answers."""

import pytest

from pytest_llmeval import assert_correct
from pytest_llmeval.records import Completion, Sample

pytestmark = pytest.mark.llmeval("arithmetic.yaml")


def test_arithmetic(sample: Sample, completion: Completion) -> None:
    """The answer is right."""
    assert_correct(sample, completion)
