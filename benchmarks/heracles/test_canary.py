"""The canary of Heracles: whether a model can call tools, by an interface and in its text."""

import pytest

from pytest_llmeval import assert_sldp_equal
from pytest_llmeval.records import Completion, Sample


@pytest.mark.llmeval("canary.yaml")
def test_canary(sample: Sample, completion: Completion) -> None:
    """The model asks the oracle by its own interface for tools, and uses what it says."""
    assert_sldp_equal(completion.answer, sample.target)


@pytest.mark.llmeval("canary_text.yaml")
def test_canary_text(sample: Sample, completion: Completion) -> None:
    """The model asks the oracle by calls in its text, and uses what it says."""
    assert_sldp_equal(completion.answer, sample.target)
