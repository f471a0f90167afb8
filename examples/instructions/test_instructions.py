"""Instructions: several checks of each answer."""

import pytest

from pytest_llmeval import assert_correct
from pytest_llmeval.records import Completion, Sample

pytestmark = pytest.mark.llmeval("instructions.yaml")


def test_instructions(sample: Sample, completion: Completion) -> None:
    """The answer passes all checks of its sample."""
    assert_correct(sample, completion)
