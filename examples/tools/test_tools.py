"""The answers, and the calls that led to them."""

import pytest

from pytest_llmeval import assert_correct
from pytest_llmeval.records import Completion, Sample


@pytest.mark.llmeval("tools.yaml")
def test_tools(sample: Sample, completion: Completion) -> None:
    """The answer is right, by the calls that are expected."""
    assert_correct(sample, completion)
