"""Retrieval: answers from passages, and whether they keep to them."""

import pytest

from pytest_llmeval import assert_correct
from pytest_llmeval.records import Completion, Sample

pytestmark = pytest.mark.llmeval("retrieval.yaml")


def test_retrieval(sample: Sample, completion: Completion) -> None:
    """The answer is right, and its passages support it."""
    assert_correct(sample, completion)
