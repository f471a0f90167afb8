"""Canary tasks: whether a model can call a tool natively, and by calls written in its text."""

import pytest

from pytest_llmeval import assert_sldp_equal
from pytest_llmeval.records import Completion, Sample


@pytest.mark.llmeval("canary.yaml")
def test_canary(sample: Sample, completion: Completion) -> None:
    """The model calls the tool natively, and answers with the number that it returns."""
    assert_sldp_equal(completion.answer, sample.target)


@pytest.mark.llmeval("canary_text.yaml")
def test_canary_text(sample: Sample, completion: Completion) -> None:
    """The model calls the tool in its text, and answers with the number that it returns."""
    assert_sldp_equal(completion.answer, sample.target)
