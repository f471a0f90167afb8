"""Heracles: questions about a 3D scene graph, answered by way of Cypher and compared as SLDP."""

import pytest

from pytest_llmeval import assert_sldp_equal
from pytest_llmeval.records import Completion, Sample

pytestmark = pytest.mark.llmeval("heracles.yaml")


def test_heracles(sample: Sample, completion: Completion) -> None:
    """The answer is the solution, as SLDP compares them."""
    assert_sldp_equal(completion.answer, sample.target)
