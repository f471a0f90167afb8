"""Classification: the mood of a text."""

import pytest

from pytest_llmeval import assert_correct
from pytest_llmeval.records import Completion, Sample

pytestmark = pytest.mark.llmeval("classification.yaml")


def test_classification(sample: Sample, completion: Completion) -> None:
    """The class is right."""
    assert_correct(sample, completion)
